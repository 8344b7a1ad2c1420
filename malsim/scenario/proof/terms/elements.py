"""Number or bit that may be a solver's term, and the result of each numpy function on it.

What is known is worked out by numpy itself. A term that chooses among known numbers is worked out case by case, so that a
table, a shift or a quotient of it is exact. Of all else there are comparisons, bits, sums, products and whole-number steps;
the rest is outside. Reals are exact here, where the engine rounds to 53 bits.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.scenario.proof.terms.solver import OutsideError, z3

if TYPE_CHECKING:
    from collections.abc import Callable

Element = Any  # bool, int, float or a term
CASES = 256  # most cases that a term is split into
RELATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "less": lambda a, b: a < b, "less_equal": lambda a, b: a <= b, "greater": lambda a, b: a > b,
    "greater_equal": lambda a, b: a >= b, "equal": lambda a, b: a == b, "not_equal": lambda a, b: a != b,
}  # fmt: skip
AND, OR, XOR, NOT = (
    {f"{kind}_{word}" for kind in ("bitwise", "logical")} for word in ("and", "or", "xor", "not")
)  # numpy has no bitwise_not but by another name
NOT |= {"invert"}


def is_constant(one: Element) -> bool:
    """Return whether an element is a plain number or bit."""
    return isinstance(one, (bool, int, float))


def is_bit(one: Element) -> bool:
    """Return whether an element is a bit, known or not."""
    return isinstance(one, bool) or (not is_constant(one) and z3().is_bool(one))


def term(one: Element) -> Any:
    """Return an element as a term; a float becomes its exact fraction."""
    if isinstance(one, bool):
        return z3().BoolVal(one)
    if isinstance(one, int):
        return z3().IntVal(one)
    if isinstance(one, float):
        if not math.isfinite(one):
            raise OutsideError("NaN or an infinite number among values that are not known")
        return z3().RealVal(Fraction(one))
    return one


def number(one: Element) -> Any:
    """Return an element as a term of a number, a bit as 0 or 1."""
    return choose(one, 1, 0) if is_bit(one) and not is_constant(one) else term(int(one) if isinstance(one, bool) else one)


def to_kind(one: Element, kind: str) -> Element:
    """Convert an element as numpy's `astype` does: kind `b`, `i` or `f`."""
    if is_constant(one):
        return {"b": bool, "i": int, "u": int, "f": float}[kind](one)
    if kind == "b":
        return one if is_bit(one) else z3().simplify(one != 0)
    value = number(one)
    if kind == "f":
        return value if value.is_real() else z3().ToReal(value)
    return _truncated(value) if value.is_real() else value


def choose(condition: Element, one: Element, other: Element) -> Element:
    """Return `one` where the condition holds, else `other`."""
    condition = to_kind(condition, "b")
    if is_constant(condition):
        return one if condition else other
    same = is_constant(one) and is_constant(other) and (type(one), one) == (type(other), other)
    if same or (not is_constant(one) and not is_constant(other) and one.eq(other)):
        return one
    if is_bit(one) and is_bit(other):
        return z3().simplify(z3().If(condition, term(one), term(other))) if is_constant(one) or is_constant(other) else (
            z3().If(condition, one, other))  # fmt: skip
    first, second = number(one), number(other)
    if first.is_real() != second.is_real():
        first, second = to_kind(first, "f"), to_kind(second, "f")
    return z3().If(condition, first, second)


def apply(function: np.ufunc, *arguments: Element) -> Element:
    """Apply a numpy function to elements that may be terms.

    Raises
    ------
    OutsideError
        It has no exact translation.
    """
    if all(is_constant(item) for item in arguments):
        with np.errstate(all="ignore"):
            return function(*arguments).item()
    name = function.__name__
    if name in RELATIONS:
        return _related(function, *arguments)
    if name in AND | OR | XOR | NOT and all(is_bit(item) for item in arguments):
        return _joined(name, *arguments)
    if name in ARITHMETIC and not (name == "divide" and not is_constant(arguments[1])):
        return ARITHMETIC[name](*arguments)
    try:
        return _by_cases(function, arguments, {})
    except OutsideError:
        if name not in BITS:
            raise
        return BITS[name](*arguments)


def _related(function: np.ufunc, one: Element, other: Element) -> Element:
    """Compare two elements; beside NaN or infinity any number gives the same result."""
    if any(isinstance(item, float) and not math.isfinite(item) for item in (one, other)):
        return function(*[item if is_constant(item) else 0.0 for item in (one, other)]).item()
    relation = RELATIONS[function.__name__]
    if is_constant(one) or is_constant(other):
        try:
            return _by_cases(function, (one, other), {})
        except OutsideError:
            pass
    if is_bit(one) and is_bit(other) and function.__name__ in {"equal", "not_equal"}:
        return relation(term(one), term(other))
    return relation(number(one), number(other))


def _joined(name: str, one: Element, other: Element = True) -> Element:  # noqa: FBT002  # a bit, not a switch
    if name in NOT:
        return z3().Not(one)
    constant, rest = (one, other) if is_constant(one) else (other, one)
    if name in XOR:
        return (z3().Not(rest) if constant else rest) if is_constant(constant) else z3().Xor(one, other)
    if is_constant(constant):
        return constant if constant == (name in OR) else rest
    return z3().Or(one, other) if name in OR else z3().And(one, other)


def _truncated(value: Any) -> Any:
    return z3().If(value >= 0, z3().ToInt(value), -z3().ToInt(-value))


def _lesser(one: Element, other: Element) -> Element:
    return choose(_related(np.less_equal, one, other), one, other)


def _greater(one: Element, other: Element) -> Element:
    return choose(_related(np.greater_equal, one, other), one, other)


def _product(one: Element, other: Element) -> Element:
    """Multiply two elements; a bit times a number is a choice."""
    for bit, factor in ((one, other), (other, one)):
        if is_bit(bit) and not is_constant(bit):
            return choose(bit, factor, to_kind(0, "f" if isinstance(factor, float) else "i"))
    return number(one) * number(other)


def _whole(one: Element, other: Element) -> Element:
    """Divide by a known positive number and round down."""
    if not is_constant(other) or not 0 < other < math.inf:
        raise OutsideError("a remainder or a whole quotient by anything but a known number above 0")
    value = number(one)
    if isinstance(other, int) and value.is_int():
        return value / other
    return _floor(to_kind(one, "f") / term(float(other)))


def _shifted(one: Element, by: Element) -> Element:
    if not is_constant(by):
        raise OutsideError("a shift by an unknown number")
    return _whole(one, 1 << by)


def _masked(one: Element, mask: Element) -> Element:
    if not is_constant(mask) or mask < 0 or mask & (mask + 1):
        raise OutsideError("bits other than the lowest of an unknown number")
    return number(one) % (mask + 1)


def _floor(value: Any) -> Any:
    return z3().ToReal(z3().ToInt(value))


def _size(one: Element) -> Element:
    return z3().If(number(one) >= 0, number(one), -number(one))


ARITHMETIC: dict[str, Callable[..., Element]] = {
    "add": lambda a, b: number(a) + number(b), "subtract": lambda a, b: number(a) - number(b), "multiply": _product,
    "divide": lambda a, b: 0.0 if math.isinf(b) else to_kind(a, "f") / term(float(b)) if b else _by_nothing(),
    "negative": lambda a: -number(a), "positive": lambda a: a, "absolute": _size, "minimum": _lesser, "fmin": _lesser,
    "maximum": _greater, "fmax": _greater, "isnan": lambda _: False, "isfinite": lambda _: True, "isinf": lambda _: False,
    "floor": lambda a: _floor(to_kind(a, "f")), "ceil": lambda a: -_floor(-to_kind(a, "f")),
    "trunc": lambda a: z3().ToReal(_truncated(to_kind(a, "f"))), "floor_divide": _whole,
    "remainder": lambda a, b: number(a) - _whole(a, b) * term(b),
    "sign": lambda a: choose(number(a) > 0, 1.0, choose(number(a) < 0, -1.0, 0.0)),
}  # fmt: skip


BITS: dict[str, Callable[..., Element]] = {"right_shift": _shifted, "bitwise_and": _masked}


def _by_nothing() -> Element:
    raise OutsideError("a quotient by 0")


def _by_cases(function: np.ufunc, arguments: tuple[Element, ...], done: dict[tuple[Any, ...], Element]) -> Element:
    """Apply a function whose terms choose among known numbers: choose among the answers, each condition tested once."""
    arguments = tuple(map(_plain, arguments))
    if all(is_constant(entry) for entry in arguments):
        return apply(function, *arguments)
    key = tuple(entry if is_constant(entry) else ("term", entry.get_id()) for entry in arguments)
    if key not in done:
        if not all(is_constant(entry) or _chooses(entry) for entry in arguments) or len(done) > CASES:
            raise OutsideError(f"numpy's {function.__name__} of a value that is not known")
        condition = next(entry for entry in arguments if not is_constant(entry)).arg(0)
        sides = ([entry.arg(side) if not is_constant(entry) and entry.arg(0).eq(condition) else entry for entry in arguments]
                 for side in (1, 2))  # fmt: skip
        done[key] = choose(condition, *[_by_cases(function, tuple(item), done) for item in sides])
    return done[key]


def _chooses(one: Any) -> bool:
    return bool(z3().is_app_of(one, z3().Z3_OP_ITE))


def _plain(one: Element) -> Element:
    if not is_constant(one) and z3().is_int_value(one):
        return one.as_long()
    if is_constant(one) or not z3().is_rational_value(one):
        return one
    value = one.as_fraction()
    return float(value) if Fraction(float(value)) == value else one
