"""One clock in whole milliseconds; days in files and frames."""

from __future__ import annotations

import math
import re

from malsim.errors import ScenarioError

__all__ = ["DAY", "days", "milliseconds", "span"]

DAY = 86_400_000
_UNITS = {"ms": 1, "s": 1_000, "min": 60_000, "h": 3_600_000, "d": DAY, "w": 7 * DAY}
_SPAN = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*(ms|s|min|h|d|w)\s*")


def span(text: str, *, where: str = "duration") -> int:
    """Milliseconds of a duration as it is typed: a number and a unit of ms, s, min, h, d or w.

    >>> span("10min"), span("1.5d")
    (600000, 129600000)
    """
    match = _SPAN.fullmatch(text)
    if match is None:
        raise ScenarioError("not a duration", where=where, given=text, allowed="a number and ms, s, min, h, d or w: 10min")
    return milliseconds(float(match[1]) * _UNITS[match[2]] / DAY)


def milliseconds(value: float) -> int:
    """Whole milliseconds of a number of days, to the nearest.

    >>> milliseconds(0.1)
    8640000
    """
    if not math.isfinite(value * DAY):
        raise ScenarioError("not a time", given=value, allowed="a number of days")
    return round(value * DAY)


def days(value: int) -> float:
    """Days of a number of milliseconds."""
    return value / DAY
