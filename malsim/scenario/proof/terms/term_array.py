"""Arrays of solver terms, passed to an op's function in place of numpy arrays, so that the shipped code itself is proved.

numpy dispatches its functions to these arrays (`__array_ufunc__`, `__array_function__`). Functions without an exact
translation raise `OutsideError`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.scenario.proof.terms.elements import OutsideError, apply, choose, is_bit, is_constant, to_kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

Objects = Any  # a numpy array of objects: numbers, bits and solver terms


class TermArray(np.lib.mixins.NDArrayOperatorsMixin):
    """Array whose elements are numbers, bits or solver terms."""

    __array_priority__ = 100.0

    def __init__(self, values: Any) -> None:
        self.values: Objects = values.values if isinstance(values, TermArray) else _objects(values)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return tuple(self.values.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(self.values.size)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Widest kind among the elements: bit, whole number or float."""
        kinds = {_kind(element) for element in self.values.flat}
        return np.dtype(next(({"f": np.float64, "i": np.int64}[kind] for kind in "fi" if kind in kinds), np.bool_))

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: Any) -> TermArray:
        parts = index if isinstance(index, tuple) else (index,)
        if isinstance(parts[0], TermArray):
            return _pick(self, parts[0])
        return TermArray(self.values[tuple(part.values if isinstance(part, TermArray) else part for part in parts)])

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, TermArray):
            _copyto(self, value, where=index)
        else:
            self.values[index] = TermArray(value).values

    def __int__(self) -> int:
        element = self.values.item()
        if not is_constant(element):
            raise OutsideError("the op branches on an unknown whole number")
        return int(element)

    def __bool__(self) -> bool:
        return bool(int(self))

    def __array__(self, *_: Any, **__: Any) -> NDArray[Any]:
        raise OutsideError("an unknown value is passed to a numpy function that has no translation")

    def copy(self) -> TermArray:
        """Return a copy, as numpy does."""
        return TermArray(self.values.copy())

    def astype(self, kind: Any, **_: Any) -> TermArray:
        """Convert the elements to another type, as numpy does."""
        letter = np.dtype(kind).kind
        return _elementwise(lambda element: to_kind(element, letter), self)

    view = astype  # ops use `view` only to read bits as small integers

    def ravel(self) -> TermArray:
        """Flatten the array, as numpy does."""
        return TermArray(self.values.ravel())

    def sum(self, axis: int | None = None) -> TermArray:
        """Sum along an axis, as numpy does."""
        numbers = self.astype(np.int64) if self.dtype.kind == "b" else self
        return _reduce(np.add, numbers, axis, 0)

    def all(self, axis: int | None = None) -> TermArray:
        """Return whether all elements along an axis are true, as numpy does."""
        return _reduce(np.logical_and, self.astype(np.bool_), axis, True)

    def any(self, axis: int | None = None) -> TermArray:
        """Return whether any element along an axis is true, as numpy does."""
        return _reduce(np.logical_or, self.astype(np.bool_), axis, False)

    def max(self, axis: int | None = None, initial: float | None = None) -> TermArray:
        """Return the maximum along an axis, as numpy does."""
        return _reduce(np.maximum, self, axis, initial)

    def __array_ufunc__(self, function: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Apply a numpy ufunc elementwise, as a reduction, or as an accumulation along the first axis."""
        if method == "__call__" and not options.keys() - {"out", "where"}:
            return _call(function, inputs, options)
        if method == "reduce":
            return _reduce(function, inputs[0], options.get("axis", 0), options.get("initial"))
        if method == "accumulate" and options.get("axis", 0) == 0:
            rows = [inputs[0][0]]
            for row in range(1, len(inputs[0])):
                rows.append(function(rows[-1], inputs[0][row]))
            return TermArray(np.array([row.values for row in rows], dtype=object))
        raise OutsideError(f"numpy's {function.__name__}.{method} is not supported")

    def __array_function__(self, function: Callable[..., Any], _: Any, args: Any, kwargs: Any) -> Any:
        """Apply a numpy function that is not a ufunc."""
        if function.__name__ not in FUNCTIONS:
            raise OutsideError(f"numpy's {function.__name__} is not supported")
        return FUNCTIONS[function.__name__](*args, **kwargs)


def _objects(values: Any) -> Objects:
    if isinstance(values, np.ndarray):
        return values if values.dtype == object else values.astype(object)
    if isinstance(values, (bool, int, float, np.generic)):
        return np.array(values.item() if isinstance(values, np.generic) else values, dtype=object)
    array = np.empty(len(values), dtype=object) if isinstance(values, list) else np.empty((), dtype=object)
    array[...] = values
    return array


def _kind(element: Any) -> str:
    if is_bit(element):
        return "b"
    return "f" if (isinstance(element, float) if is_constant(element) else element.is_real()) else "i"


def _broadcast(*arrays: Any) -> list[TermArray]:
    return [TermArray(array) for array in np.broadcast_arrays(*[TermArray(array).values for array in arrays])]


def _elementwise(function: Callable[..., Any], *arrays: Any) -> TermArray:
    values = [array.values for array in _broadcast(*arrays)]
    result = np.empty(values[0].shape, dtype=object)
    for position in np.ndindex(result.shape):
        result[position] = function(*[array[position] for array in values])
    return TermArray(result)


def _call(function: np.ufunc, inputs: Sequence[Any], options: dict[str, Any]) -> TermArray:
    where, out = options.get("where", True), options.get("out")
    if where is True and out is None:
        return _elementwise(lambda *elements: apply(function, *elements), *inputs)
    rest: Any = out[0] if out else 0.0
    if out and not isinstance(rest, TermArray):
        raise OutsideError(f"numpy's {function.__name__} cannot write unknown values to an array of floats")

    def masked(condition: Any, otherwise: Any, *elements: Any) -> Any:
        """Apply the function only if the condition may hold, so that masked-out elements cannot cause a division by 0."""
        return otherwise if condition is False else choose(condition, apply(function, *elements), otherwise)

    result = _elementwise(masked, where, rest, *inputs)
    if out:
        rest.values = result.values
    return result


def _reduce(function: np.ufunc, array: Any, axis: int | None, initial: Any) -> TermArray:
    values = TermArray(array).values
    values = values.ravel() if axis is None else np.moveaxis(values, axis, 0)
    total = None if initial is None else TermArray(initial)
    for elements in values:
        row = TermArray(elements if isinstance(elements, np.ndarray) else _objects(elements))
        total = row if total is None else _elementwise(lambda a, b: apply(function, a, b), total, row)
    if len(values):
        return _broadcast(total, TermArray(values[0]))[0]
    return TermArray(np.full(values.shape[1:], function.identity if initial is None else initial, dtype=object))


def _pick(array: Any, index: TermArray) -> TermArray:
    """Select one row for each column of an array. An unknown row number becomes a choice among all rows."""
    family = TermArray(array).values

    def picked(column: int, row: Any) -> Any:
        if is_constant(row):
            return family[int(row)][column]
        value = family[-1][column]
        for number in range(len(family) - 2, -1, -1):
            value = choose(apply(np.less_equal, row, number), family[number][column], value)
        return value

    return TermArray([picked(column, row) for column, row in enumerate(index.values)])


def _select(rules: Sequence[Any], values: Sequence[Any], default: Any = 0) -> Any:
    result = default
    for rule, value in zip(reversed(rules), reversed(values), strict=True):
        result = _elementwise(choose, rule, value, result)
    return result


def _count_nonzero(array: Any) -> int:
    """Count the elements that may be nonzero. Ops use the count only to skip work that changes nothing."""
    return sum(not is_constant(element) or bool(element) for element in TermArray(array).values.flat)


def _packbits(bits: Any, axis: int = 0, bitorder: str = "little") -> TermArray:
    if axis or bitorder != "little" or len(bits) > 8:  # noqa: PLR2004  # bits of a byte
        raise OutsideError("numpy's packbits is only supported for up to 8 bits along the first axis, lowest bit first")
    columns = [_number(list(column), 0, 1) for column in TermArray(bits).values.T]
    return TermArray(np.array([columns], dtype=object))


def _number(bits: list[Any], total: int, weight: int) -> Any:
    """Convert bits, lowest first, to a choice among all the numbers that they can represent, plus `total`."""
    if not bits:
        return total
    return choose(bits[0], _number(bits[1:], total + weight, 2 * weight), _number(bits[1:], total, 2 * weight))


def _copyto(to: TermArray, array: Any, *, where: Any = True) -> None:
    to.values = _elementwise(choose, where, array, to).values


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "where": lambda condition, then, otherwise: _elementwise(choose, condition, then, otherwise),
    "count_nonzero": _count_nonzero,
    "copyto": _copyto,
    "packbits": _packbits,
    "take_along_axis": lambda array, index, **_: _pick(TermArray(array), index[0])[np.newaxis],
    "select": _select,
    "concatenate": lambda parts, axis=0: TermArray(np.concatenate([TermArray(part).values for part in parts], axis=axis)),
    "broadcast_to": lambda array, shape: TermArray(np.broadcast_to(TermArray(array).values, shape)),
    "zeros_like": lambda array, **_: TermArray(np.zeros(np.shape(array.values))),
    "empty_like": lambda array, **_: TermArray(np.zeros(np.shape(array.values))),
    "full_like": lambda array, value, **_: TermArray(np.full(np.shape(array.values), value)),
    "clip": lambda array, low, high: np.minimum(np.maximum(array, low), high),
    "isin": lambda array, values: _select([array == value for value in values], [True] * len(values), default=False),
}
