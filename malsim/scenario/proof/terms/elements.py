"""Numpy functions for numbers and bits that are either known or solver terms.

Known elements are passed to numpy. A term that chooses among known numbers is evaluated case by case, so that looking it
up in a table, shifting it or dividing it is exact. Other terms support comparisons, logic, sums, products and integer
division; any other function raises `OutsideError`. Reals are exact here, whereas the engine rounds to 53 bits.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.base.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable


class OutsideError(DataError):
    """Error for an op or formula that cannot be translated exactly into solver terms. malsim does not approximate."""


@cache
def z3() -> Any:
    """Import and return z3; raise `UsageError` if it is not installed."""
    try:
        return import_module("z3")
    except ImportError as error:
        raise UsageError("a proof needs z3, which is not installed", hint="pip install 'malsim[prove]'") from error


Element = Any  # a bool, an int, a float or a solver term
CASES = 256  # maximum number of cases into which a term is split
RELATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "less": lambda a, b: a < b, "less_equal": lambda a, b: a <= b, "greater": lambda a, b: a > b,
    "greater_equal": lambda a, b: a >= b, "equal": lambda a, b: a == b, "not_equal": lambda a, b: a != b,
}  # fmt: skip
AND, OR, XOR, NOT = ({f"{kind}_{word}" for kind in ("bitwise", "logical")} for word in ("and", "or", "xor", "not"))
NOT |= {"invert"}  # numpy calls bitwise_not `invert`


def is_constant(element: Element) -> bool:
    """Return whether an element is a known number or bit, as opposed to a solver term."""
    return isinstance(element, (bool, int, float))


def is_bit(element: Element) -> bool:
    """Return whether an element is a bit, either known or a solver term."""
    return isinstance(element, bool) or (not is_constant(element) and z3().is_bool(element))


def term(element: Element) -> Any:
    """Convert an element to a solver term. A float becomes its exact fraction."""
    if isinstance(element, bool):
        return z3().BoolVal(element)
    if isinstance(element, int):
        return z3().IntVal(element)
    if isinstance(element, float):
        if not math.isfinite(element):
            raise OutsideError("NaN and infinity cannot be combined with unknown values")
        return z3().RealVal(Fraction(element))
    return element


def number(element: Element) -> Any:
    """Convert an element to a numeric solver term. A bit becomes 0 or 1."""
    if is_bit(element):
        return term(int(element)) if is_constant(element) else choose(element, 1, 0)
    return term(element)


def to_kind(element: Element, kind: str) -> Element:
    """Convert an element to the kind `b`, `i` or `f` (bit, int, float), like numpy's `astype`."""
    if is_constant(element):
        return {"b": bool, "i": int, "u": int, "f": float}[kind](element)
    if kind == "b":
        return element if is_bit(element) else z3().simplify(element != 0)
    value = number(element)
    if kind == "f":
        return value if value.is_real() else z3().ToReal(value)
    return _truncated(value) if value.is_real() else value


def choose(condition: Element, then: Element, otherwise: Element) -> Element:
    """Return `then` if the condition holds and `otherwise` if not; an unknown condition gives an if-then-else term."""
    condition = to_kind(condition, "b")
    if is_constant(condition):
        return then if condition else otherwise
    constant = is_constant(then), is_constant(otherwise)
    same = (type(then), then) == (type(otherwise), otherwise) if all(constant) else not any(constant) and then.eq(otherwise)
    if same:
        return then
    if is_bit(then) and is_bit(otherwise):
        choice = z3().If(condition, term(then), term(otherwise))
        return z3().simplify(choice) if any(constant) else choice
    first, second = number(then), number(otherwise)
    if first.is_real() != second.is_real():
        first, second = to_kind(first, "f"), to_kind(second, "f")
    return z3().If(condition, first, second)


def apply(function: np.ufunc, *arguments: Element) -> Element:
    """Apply a numpy function to elements. Raise `OutsideError` if the function has no exact translation."""
    if all(map(is_constant, arguments)):
        with np.errstate(all="ignore"):
            return function(*arguments).item()
    name = function.__name__
    if name in RELATIONS:
        return _compare(function, *arguments)
    if name in AND | OR | XOR | NOT and all(map(is_bit, arguments)):
        return _connect(name, *arguments)
    if name in ARITHMETIC and not (name == "divide" and not is_constant(arguments[1])):
        return ARITHMETIC[name](*arguments)
    try:
        return _by_cases(function, arguments, {})
    except OutsideError:
        if name not in BITS:
            raise
        return BITS[name](*arguments)


def _compare(function: np.ufunc, left: Element, right: Element) -> Element:
    """Compare two elements. The result of a comparison with NaN or infinity does not depend on the other element."""
    if any(isinstance(side, float) and not math.isfinite(side) for side in (left, right)):
        return function(*[side if is_constant(side) else 0.0 for side in (left, right)]).item()
    relation = RELATIONS[function.__name__]
    if is_constant(left) or is_constant(right):
        try:
            return _by_cases(function, (left, right), {})
        except OutsideError:
            pass
    if is_bit(left) and is_bit(right) and function.__name__ in {"equal", "not_equal"}:
        return relation(term(left), term(right))
    return relation(number(left), number(right))


def _connect(name: str, left: Element, right: Element = True) -> Element:  # noqa: FBT002  # a bit, not a switch
    if name in NOT:
        return z3().Not(left)
    constant, rest = (left, right) if is_constant(left) else (right, left)
    if name in XOR:
        return (z3().Not(rest) if constant else rest) if is_constant(constant) else z3().Xor(left, right)
    if is_constant(constant):
        return constant if constant == (name in OR) else rest
    return z3().Or(left, right) if name in OR else z3().And(left, right)


def _truncated(value: Any) -> Any:
    return z3().If(value >= 0, z3().ToInt(value), -z3().ToInt(-value))


def _minimum(left: Element, right: Element) -> Element:
    return choose(_compare(np.less_equal, left, right), left, right)


def _maximum(left: Element, right: Element) -> Element:
    return choose(_compare(np.greater_equal, left, right), left, right)


def _product(left: Element, right: Element) -> Element:
    """Multiply two elements. A bit times a number becomes a choice between the number and 0."""
    for bit, factor in ((left, right), (right, left)):
        if is_bit(bit) and not is_constant(bit):
            return choose(bit, factor, to_kind(0, "f" if isinstance(factor, float) else "i"))
    return number(left) * number(right)


def _quotient(dividend: Element, divisor: Any) -> Element:
    if not divisor:
        raise OutsideError("the divisor is 0")
    return 0.0 if math.isinf(divisor) else to_kind(dividend, "f") / term(float(divisor))


def _floor_divide(dividend: Element, divisor: Element) -> Element:
    """Divide by a known positive number and round down."""
    if not is_constant(divisor) or not 0 < divisor < math.inf:
        raise OutsideError("the divisor of a remainder or an integer division must be a known number above 0")
    value = number(dividend)
    if isinstance(divisor, int) and value.is_int():
        return value / divisor
    return _floor(to_kind(dividend, "f") / term(float(divisor)))


def _right_shift(element: Element, by: Element) -> Element:
    if not is_constant(by):
        raise OutsideError("the number of bits to shift by must be known")
    return _floor_divide(element, 1 << by)


def _low_bits(element: Element, mask: Element) -> Element:
    if not is_constant(mask) or mask < 0 or mask & (mask + 1):
        raise OutsideError("only the lowest bits of an unknown number can be selected")
    return number(element) % (mask + 1)


def _floor(value: Any) -> Any:
    return z3().ToReal(z3().ToInt(value))


ARITHMETIC: dict[str, Callable[..., Element]] = {
    "add": lambda a, b: number(a) + number(b), "subtract": lambda a, b: number(a) - number(b), "multiply": _product,
    "divide": _quotient, "floor_divide": _floor_divide, "remainder": lambda a, b: number(a) - _floor_divide(a, b) * term(b),
    "negative": lambda a: -number(a), "minimum": _minimum, "fmin": _minimum,
    "maximum": _maximum, "fmax": _maximum, "isnan": lambda _: False,
    "floor": lambda a: _floor(to_kind(a, "f")), "ceil": lambda a: -_floor(-to_kind(a, "f")),
    "trunc": lambda a: z3().ToReal(_truncated(to_kind(a, "f"))),
    "absolute": lambda a: z3().If(number(a) >= 0, number(a), -number(a)),
}  # fmt: skip
BITS: dict[str, Callable[..., Element]] = {"right_shift": _right_shift, "bitwise_and": _low_bits}


def _by_cases(function: np.ufunc, arguments: tuple[Element, ...], done: dict[tuple[Any, ...], Element]) -> Element:
    """Apply a function to terms that choose among known numbers, case by case, testing each condition once."""
    arguments = tuple(map(_simplified, arguments))
    if all(map(is_constant, arguments)):
        return apply(function, *arguments)
    key = tuple(entry if is_constant(entry) else ("term", entry.get_id()) for entry in arguments)
    if key not in done:
        unknown = [entry for entry in arguments if not is_constant(entry)]
        if not all(z3().is_app_of(entry, z3().Z3_OP_ITE) for entry in unknown) or len(done) > CASES:
            raise OutsideError(f"numpy's {function.__name__} cannot be applied to an unknown value")
        condition = unknown[0].arg(0)
        sides = ([entry.arg(side) if not is_constant(entry) and entry.arg(0).eq(condition) else entry for entry in arguments]
                 for side in (1, 2))  # fmt: skip
        done[key] = choose(condition, *[_by_cases(function, tuple(side), done) for side in sides])
    return done[key]


def _simplified(element: Element) -> Element:
    """Convert a literal solver number to a Python number if that is exact; return other elements unchanged."""
    if not is_constant(element) and z3().is_int_value(element):
        return element.as_long()
    if is_constant(element) or not z3().is_rational_value(element):
        return element
    value = element.as_fraction()
    return float(value) if Fraction(float(value)) == value else element
