"""Units of time, and parsing of numbers with units: `10min`, `3d`, `0.5/h`."""

from __future__ import annotations

import re

from ops.pin.errors import OpError

__all__ = ["MILLISECONDS", "convert", "is_time", "number"]

MILLISECONDS = {"ms": 1.0, "s": 1e3, "min": 6e4, "h": 3.6e6, "d": 8.64e7}
NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
TIMED = re.compile(rf"(?P<number>{NUMBER})\s*(?P<per>/?)\s*(?P<unit>ms|s|min|h|d)")
PLAIN = re.compile(rf"{NUMBER}|[+-]?inf")


def is_time(unit: str) -> bool:
    """Return True if the unit is a unit of time. Values for a pin in such a unit must be written with a unit."""
    return unit in MILLISECONDS


def convert(length: float, *, given: str, to: str) -> float:
    """Convert a duration to another unit of time. Conversions from coarser units to whole milliseconds are exact.

    >>> convert(10, given="min", to="ms")
    600000.0
    """
    return length if given == to else length * MILLISECONDS[given] / MILLISECONDS[to]


def number(given: object, *, unit: str, where: str) -> float:
    """Convert a user's value for a float pin to a number in the pin's unit.

    A duration must be text with a unit, a rate (`1/d`) text with a unit or a number, any other value a number.

    Raises
    ------
    OpError
        If the value is not a number, or its unit is missing or not allowed.

    >>> number("10min", unit="ms", where="oneshot.width"), number("0.5/h", unit="1/d", where="slew.maxv")
    (600000.0, 12.0)
    """
    text = str(given).strip()
    match = TIMED.fullmatch(text)
    if match and (is_time(unit) or unit.startswith("1/")):
        if not is_time(unit) and match["per"] and unit[2:] in MILLISECONDS:
            return float(match["number"]) * (MILLISECONDS[unit[2:]] / MILLISECONDS[match["unit"]])
        if is_time(unit) and not match["per"]:
            return convert(float(match["number"]), given=match["unit"], to=unit)
    if is_time(unit) or isinstance(given, bool) or not PLAIN.fullmatch(text):
        problem = "not a duration" if is_time(unit) else "not a number"
        raise OpError(problem, where=where, given=given, allowed=_allowed(unit))
    return float(text)


def _allowed(unit: str) -> str:
    if is_time(unit):
        return "a number and ms, s, min, h or d, such as 500ms or 2h"
    return f"a finite number in {unit}".removesuffix(" in 1") + ", or a rate such as 0.5/h" * (unit[2:] in MILLISECONDS)
