"""Units of time, and the text that carries them: `10min`, `3d`, `0.5/h`."""

from __future__ import annotations

import re

from ops.pin.errors import OpError

__all__ = ["MILLISECONDS", "convert", "is_time", "number"]

MILLISECONDS = {"ms": 1.0, "s": 1e3, "min": 6e4, "h": 3.6e6, "d": 8.64e7}
NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
TIMED = re.compile(rf"(?P<number>{NUMBER})\s*(?P<per>/?)\s*(?P<unit>ms|s|min|h|d)")
PLAIN = re.compile(rf"{NUMBER}|[+-]?inf")


def is_time(unit: str) -> bool:
    """Return True if the unit is a length of time, for which a bare number is not accepted."""
    return unit in MILLISECONDS


def convert(length: float, *, given: str, to: str) -> float:
    """Return a length of time in another unit: exact from a coarser unit to whole milliseconds.

    >>> convert(10, given="min", to="ms")
    600000.0
    """
    return length if given == to else length * MILLISECONDS[given] / MILLISECONDS[to]


def number(given: object, *, unit: str, where: str) -> float:
    """Convert a user's value for a float pin to a number in the pin's unit.

    A length of time takes text with its unit; a rate (`1/d`) takes text with its unit or a number already in it;
    everything else takes a number.

    Raises
    ------
    OpError
        No number, no unit on a time, or a unit where none belongs.

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
        raise OpError("not a value of this unit", where=where, given=given, allowed=_allowed(unit))
    return float(text)


def _allowed(unit: str) -> str:
    if is_time(unit):
        return "a time with its unit: 500ms, 30s, 10min, 2h or 3d"
    return f"a number [{unit}]" + (", or a rate with its unit: 0.5/h" if unit[2:] in MILLISECONDS else "")
