"""One clock in whole milliseconds; days in files and frames."""

from __future__ import annotations

import math

from malsim.errors import ScenarioError
from malsim.finite import typed_days

__all__ = ["DAY", "days", "milliseconds", "span"]

DAY = 86_400_000


def span(text: str, *, where: str = "duration") -> int:
    """Milliseconds of a duration as it is typed: a number and a unit of ms, s, min, h, d or w.

    >>> span("10min"), span("1.5d")
    (600000, 129600000)
    """
    found = typed_days(text)
    if found is None:
        raise ScenarioError("not a duration", where=where, given=text, allowed="a number and ms, s, min, h, d or w: 10min")
    return milliseconds(found)


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
