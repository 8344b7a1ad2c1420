"""Time in whole milliseconds, and conversion to and from days."""

from __future__ import annotations

import math

from malsim.base.errors import ScenarioError
from malsim.base.finite import typed_days

DAY = 86_400_000


def span(text: str, *, where: str = "duration") -> int:
    """Convert a duration such as "2w" or "10min" to milliseconds. Units are ms, s, min, h, d and w.

    >>> span("10min"), span("1.5d")
    (600000, 129600000)
    """
    value = typed_days(text)
    if value is None:
        raise ScenarioError(
            "not a duration", where=where, given=text, allowed="a number and ms, s, min, h, d or w, such as 10min"
        )
    return milliseconds(value)


def read_spans(settings: object, *names: str, where: str) -> None:
    """Convert durations given as text, such as "2w", to milliseconds. Called in the `__post_init__` of frozen settings.

    >>> from malsim.sim.settings.scenario import Scenario
    >>> Scenario(days="2w", turn_every="12h").turns
    28
    """
    for name in names:
        given = getattr(settings, name)
        if isinstance(given, str):
            object.__setattr__(settings, name, span(given, where=f"{where}.{name}"))
        elif isinstance(given, tuple):
            spans = tuple(span(part, where=f"{where}.{name}") if isinstance(part, str) else part for part in given)
            object.__setattr__(settings, name, spans)


def milliseconds(value: float) -> int:
    """Convert days to milliseconds, rounded to the nearest integer.

    >>> milliseconds(0.1)
    8640000
    """
    if not math.isfinite(value * DAY):
        raise ScenarioError("not a time", given=value, allowed="a finite number of days")
    return round(value * DAY)


def days(value: int) -> float:
    return value / DAY
