"""Checks of numbers supplied by callers: finite numbers, days, and durations with a unit."""

from __future__ import annotations

import argparse
import math
import re
import sys
from datetime import date
from numbers import Real
from typing import Any, TypeGuard

from malsim.base.errors import UsageError

LARGEST = sys.float_info.max  # largest finite float
LONGEST_SCOPE = 200  # maximum number of characters in a scope's name
LAST_PORT = 65_535  # highest TCP port
FARTHEST = 1e11  # maximum distance from day 0 in days; in milliseconds it fits into 64 bits

DURATION = "a number of days, or a number and ms, s, min, h, d or w, such as 36h"
# length of each unit in ms
_UNITS = {"ms": 1, "s": 1_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_SPAN = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*(ms|s|min|h|d|w)\s*")


def typed_days(text: str) -> float | None:
    """Parse a duration (a number followed by ms, s, min, h, d or w) into days. Return None if the text is not a duration.

    >>> typed_days("36h"), typed_days("36")
    (1.5, None)
    """
    match = _SPAN.fullmatch(text)
    return None if match is None else float(match[1]) * _UNITS[match[2]] / _UNITS["d"]


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether a value is a finite real number, in Python or NumPy.

    >>> is_number(2), is_number(True), is_number("2"), is_number(float("nan")), is_number(10**400)
    (True, False, False, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def in_days(value: Any, *, where: str) -> Any:
    """Convert a duration with a unit, given as text, to days. Any other value is returned unchanged.

    Raises `UsageError` for text that is not a duration.

    >>> in_days("2w", where="days"), in_days(3.0, where="days")
    (14.0, 3.0)
    """
    if not isinstance(value, str):
        return value
    days = typed_days(value)
    if days is None:
        raise UsageError("not a duration", where=where, given=value, allowed=DURATION)
    return days


def day(text: str) -> float:
    """Parse a command-line argument as a number of days, with or without a unit.

    >>> day("36h"), day("12")
    (1.5, 12.0)
    """
    try:
        return float(text) if typed_days(text) is None else in_days(text, where="day")
    except ValueError as problem:
        raise argparse.ArgumentTypeError(f"neither a number of days nor a duration such as 36h: {text!r}") from problem


def day_of(text: str, start: str | None, *, where: str) -> float:
    """Parse a number, a duration, or a date (if `start` is the date of day 0) as a day. Raises `UsageError` for other text.

    >>> day_of("36h", None, where="--now"), day_of("2026-01-08", "2026-01-05", where="--now")
    (1.5, 3.0)
    """
    try:
        return finite(day(text), where=where, low=-FARTHEST, high=FARTHEST)
    except argparse.ArgumentTypeError:
        try:
            return float((date.fromisoformat(text) - date.fromisoformat(start or "")).days)
        except ValueError:
            allowed = f"{DURATION}, or a date such as {start}" if start else f"{DURATION}: there is no date for day 0"
            raise UsageError("not a day", where=where, given=text, allowed=allowed) from None


def finite(value: object, *, where: str, low: float = -math.inf, high: float = math.inf) -> float:
    """Return a number as a float after checking that it is finite and within bounds.

    Raises `UsageError` for a value that is not a finite number or is out of bounds.

    >>> finite(2, where="now")
    2.0
    >>> finite(float("nan"), where="now")
    Traceback (most recent call last):
        ...
    malsim.base.errors.UsageError: now: not a finite number; given: nan; allowed: a number
    """
    allowed = "a number" if math.isinf(low) and math.isinf(high) else f"a number from {low:g} to {high:g}"
    try:
        number = float(value)  # type: ignore[arg-type]  # anything but a number raises
        good = not isinstance(value, str | bytes) and math.isfinite(number)
    except (TypeError, ValueError, OverflowError):
        good = False
    if not good:
        raise UsageError("not a finite number", where=where, given=value, allowed=allowed)
    if not low <= number <= high:
        raise UsageError("out of bounds", where=where, given=value, allowed=allowed)
    return number
