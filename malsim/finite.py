"""Times, weights and shares that callers give: numbers, and finite ones."""

from __future__ import annotations

import math

from malsim.errors import UsageError

__all__ = ["finite"]


def finite(value: object, *, where: str, low: float = -math.inf, high: float = math.inf) -> float:
    """The number, as a float.

    Raises `UsageError` for what is no number, NaN, infinite, or out of bounds.

    >>> finite(2, where="now")
    2.0
    >>> finite(float("nan"), where="now")
    Traceback (most recent call last):
        ...
    malsim.errors.UsageError: now: not a finite number; given: nan; allowed: a number
    """
    allowed = "a number" if math.isinf(low) and math.isinf(high) else f"a number from {low:g} to {high:g}"
    try:
        number = float(value)  # type: ignore[arg-type]  # whatever is no number raises
        known = not isinstance(value, str | bytes) and math.isfinite(number) and low <= number <= high
    except (TypeError, ValueError, OverflowError):
        known = False
    if not known:
        raise UsageError("not a finite number", where=where, given=value, allowed=allowed)
    return number
