"""Arrays of solver terms that an op's function takes for numpy arrays, so that the proved code is the code that runs.

numpy hands its functions on to such an array (`__array_ufunc__`, `__array_function__`). No op is written twice, and none
knows of the solver: what has no exact translation says so when it is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.scenario.proof.terms.elements import apply, choose, is_bit, is_constant, to_kind
from malsim.scenario.proof.terms.solver import OutsideError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

Objects = Any  # an array of numbers, bits and terms


class TermArray(np.lib.mixins.NDArrayOperatorsMixin):
    """Array whose elements are numbers, bits, or solver terms for them.

    Parameters
    ----------
    values
        Anything an array is made of.
    """

    __array_priority__ = 100.0

    def __init__(self, values: Any) -> None:
        self.values: Objects = values.values if isinstance(values, TermArray) else _objects(values)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape, as numpy's."""
        return tuple(self.values.shape)

    @property
    def size(self) -> int:
        """Number of elements, as numpy's."""
        return int(self.values.size)

    @property
    def ndim(self) -> int:
        """Number of dimensions, as numpy's."""
        return int(self.values.ndim)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Widest kind among the elements: bits, whole numbers or floats."""
        kinds = {_kind(one) for one in self.values.flat}
        return np.dtype(next(({"f": np.float64, "i": np.int64}[kind] for kind in "fi" if kind in kinds), np.bool_))

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, place: Any) -> TermArray:
        parts = place if isinstance(place, tuple) else (place,)
        if isinstance(parts[0], TermArray):
            return _pick(self, parts[0])
        return TermArray(self.values[tuple(part.values if isinstance(part, TermArray) else part for part in parts)])

    def __setitem__(self, place: Any, value: Any) -> None:
        if isinstance(place, TermArray):
            _copied(self, value, where=place)
        else:
            self.values[place] = TermArray(value).values

    def __int__(self) -> int:
        one = self.values.item()
        if not is_constant(one):
            raise OutsideError("an unknown whole number on which the op branches")
        return int(one)

    def __bool__(self) -> bool:
        return bool(int(self))

    def __array__(self, *_: Any, **__: Any) -> NDArray[Any]:
        raise OutsideError("an unknown value in a numpy function without a translation")

    def copy(self) -> TermArray:
        """Copy as numpy does."""
        return TermArray(self.values.copy())

    def astype(self, kind: Any, **_: Any) -> TermArray:
        """Convert as numpy does."""
        letter = np.dtype(kind).kind
        return _each(lambda one: to_kind(one, letter), self)

    view = astype  # a bit as a small whole number

    def reshape(self, *shape: Any) -> TermArray:
        """Reshape as numpy does."""
        return TermArray(self.values.reshape(*shape))

    def ravel(self) -> TermArray:
        """Flatten as numpy does."""
        return TermArray(self.values.ravel())

    def sum(self, axis: int | None = None) -> TermArray:
        """Sum as numpy does."""
        numbers = self.astype(np.int64) if self.dtype.kind == "b" else self
        return _reduced(np.add, numbers, axis, 0)

    def all(self, axis: int | None = None) -> TermArray:
        """Reduce with `and` as numpy does."""
        return _reduced(np.logical_and, self.astype(np.bool_), axis, True)

    def any(self, axis: int | None = None) -> TermArray:
        """Reduce with `or` as numpy does."""
        return _reduced(np.logical_or, self.astype(np.bool_), axis, False)

    def max(self, axis: int | None = None, initial: float | None = None) -> TermArray:
        """Return the maximum as numpy does."""
        return _reduced(np.maximum, self, axis, initial)

    def min(self, axis: int | None = None, initial: float | None = None) -> TermArray:
        """Return the minimum as numpy does."""
        return _reduced(np.minimum, self, axis, initial)

    def __array_ufunc__(self, function: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Apply a numpy ufunc, element by element, or along the first axis."""
        if method == "__call__" and not options.keys() - {"out", "where"}:
            return _called(function, inputs, options)
        if method == "reduce":
            return _reduced(function, inputs[0], options.get("axis", 0), options.get("initial"))
        if method == "accumulate" and options.get("axis", 0) == 0:
            rows = [inputs[0][0]]
            for row in range(1, len(inputs[0])):
                rows.append(function(rows[-1], inputs[0][row]))
            return TermArray(np.array([row.values for row in rows], dtype=object))
        raise OutsideError(f"numpy's {function.__name__}.{method}")

    def __array_function__(self, function: Callable[..., Any], _: Any, args: Any, kwargs: Any) -> Any:
        """Apply a numpy function that is not a ufunc."""
        if function.__name__ not in FUNCTIONS:
            raise OutsideError(f"numpy's {function.__name__}")
        return FUNCTIONS[function.__name__](*args, **kwargs)


def _objects(values: Any) -> Objects:
    if isinstance(values, np.ndarray):
        return values if values.dtype == object else values.astype(object)
    if isinstance(values, (bool, int, float, np.generic)):
        return np.array(values.item() if isinstance(values, np.generic) else values, dtype=object)
    array = np.empty(len(values), dtype=object) if isinstance(values, list) else np.empty((), dtype=object)
    array[...] = values
    return array


def _kind(one: Any) -> str:
    if is_bit(one):
        return "b"
    return ("f" if isinstance(one, float) else "i") if is_constant(one) else ("f" if one.is_real() else "i")


def _spread(*arrays: Any) -> list[TermArray]:
    return [TermArray(one) for one in np.broadcast_arrays(*[TermArray(one).values for one in arrays])]


def _each(function: Callable[..., Any], *arrays: Any) -> TermArray:
    together = [one.values for one in _spread(*arrays)]
    result = np.empty(together[0].shape, dtype=object)
    for position in np.ndindex(result.shape):
        result[position] = function(*[one[position] for one in together])
    return TermArray(result)


def _called(function: np.ufunc, inputs: Sequence[Any], options: dict[str, Any]) -> TermArray:
    where, out = options.get("where", True), options.get("out")
    if where is True and out is None:
        return _each(lambda *elements: apply(function, *elements), *inputs)
    rest: Any = out[0] if out else 0.0
    if out and not isinstance(rest, TermArray):
        raise OutsideError(f"numpy's {function.__name__} into an array of floats")

    def of(wanted: Any, other: Any, *elements: Any) -> Any:
        """Apply the function only where wanted, so that a division by 0 elsewhere is not evaluated."""
        return other if wanted is False else choose(wanted, apply(function, *elements), other)

    result = _each(of, where, rest, *inputs)
    if out:
        rest.values = result.values
    return result


def _reduced(function: np.ufunc, array: Any, axis: int | None, initial: Any) -> TermArray:
    values = TermArray(array).values
    values = values.ravel() if axis is None else np.moveaxis(values, axis, 0)
    total = None if initial is None else TermArray(initial)
    for row in values:
        one = TermArray(row if isinstance(row, np.ndarray) else _objects(row))
        total = one if total is None else _each(lambda a, b: apply(function, a, b), total, one)
    if len(values):
        return _spread(total, TermArray(values[0]))[0]
    return TermArray(np.full(values.shape[1:], function.identity if initial is None else initial, dtype=object))


def _pick(array: Any, index: TermArray) -> TermArray:
    family = TermArray(array).values

    def of(place: int, constant: Any) -> Any:
        if is_constant(constant):
            return family[int(constant)][place]
        value = family[-1][place]
        for row in range(len(family) - 2, -1, -1):
            value = choose(apply(np.less_equal, constant, row), family[row][place], value)
        return value

    return TermArray([of(place, constant) for place, constant in enumerate(index.values)])


def _select(rules: Sequence[Any], values: Sequence[Any], default: Any = 0) -> Any:
    result = default
    for rule, value in zip(reversed(rules), reversed(values), strict=True):
        result = FUNCTIONS["where"](rule, value, result)
    return result


def _count(array: Any) -> int:
    """Count the elements that are not 0 or may not be; ops use the count only to skip what changes nothing."""
    return sum(not is_constant(one) or bool(one) for one in TermArray(array).values.flat)


def _packed(bits: Any, axis: int = 0, bitorder: str = "little") -> TermArray:
    if axis or bitorder != "little" or len(bits) > 8:  # noqa: PLR2004  # bits of a byte
        raise OutsideError("numpy's packbits in another order")
    columns = [_number(list(column), 0, 1) for column in TermArray(bits).values.T]
    return TermArray(np.array([columns], dtype=object))


def _number(bits: list[Any], so_far: int, weight: int) -> Any:
    if not bits:
        return so_far
    high, low = (_number(bits[1:], so_far + more, 2 * weight) for more in (weight, 0))
    return choose(bits[0], high, low)


def _copied(to: TermArray, array: Any, *, where: Any = True) -> None:
    to.values = _each(choose, where, array, to).values


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "where": lambda condition, one, other: _each(choose, condition, one, other),
    "count_nonzero": _count,
    "copyto": _copied,
    "packbits": _packed,
    "take_along_axis": lambda array, index, **_: _pick(TermArray(array), index[0])[np.newaxis],
    "select": _select,
    "concatenate": lambda parts, axis=0: TermArray(np.concatenate([TermArray(part).values for part in parts], axis=axis)),
    "stack": lambda parts, axis=0: TermArray(np.stack([TermArray(part).values for part in parts], axis=axis)),
    "roll": lambda array, by, axis=None: TermArray(np.roll(array.values, by, axis=axis)),
    "broadcast_to": lambda array, shape: TermArray(np.broadcast_to(TermArray(array).values, shape)),
    "zeros_like": lambda array, **_: TermArray(np.zeros(np.shape(array.values))),
    "ones_like": lambda array, **_: TermArray(np.ones(np.shape(array.values))),
    "empty_like": lambda array, **_: TermArray(np.zeros(np.shape(array.values))),
    "full_like": lambda array, value, **_: TermArray(np.full(np.shape(array.values), value)),
    "shape": lambda array: array.shape,
    "ndim": lambda array: array.ndim,
    "clip": lambda array, low, high: np.minimum(np.maximum(array, low), high),
    "isin": lambda array, values: _select([array == one for one in values], [True] * len(values), default=False),
    "sum": lambda array, axis=None: array.sum(axis),
    "any": lambda array, axis=None: array.any(axis),
    "all": lambda array, axis=None: array.all(axis),
    "array_equal": lambda *_: False,
}
