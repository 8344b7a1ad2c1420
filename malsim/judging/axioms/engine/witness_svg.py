"""Witness as a figure: the score of each value after each event, as SVG."""

from __future__ import annotations

import math
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.judging.axioms.engine.events import Event
    from malsim.judging.axioms.engine.subject import PeekResult, Subject

WIDE, HIGH, LEFT, TOP = 46, 150, 60, 20
MOST = 30  # events that are drawn, the last ones
NAME = 12  # how far names of values stand apart
COLOURS = {"A": "#1f6fb4", "B": "#e08a00", "C": "#2e9e5b"}
SIGNS = {"tick": "sweep", "nothing": "∅", "read": "read", "peek": "look"}


def picture(subject: Subject, events: Sequence[Event]) -> str:
    """Draw the scores after each event, evenly spaced, with the day below; a value that is gone has no line."""
    about = events[-1].object
    looks = [look for event in events for look in (event, replace(event, do="peek", object=about))]
    looks = [one for place, one in enumerate(looks) if place % 2 or one.do != "peek"]
    results = subject.play(looks)[-MOST:]
    last = list(events)[-MOST:]
    scores = [score for each in results for score in each.scores.values() if math.isfinite(score)]
    low, high = min([0.0, *scores]), max([*scores, low_top(scores)])
    across = LEFT + WIDE * len(last) + 10
    values = sorted({value for each in results for value in each.scores})
    parts = [_axis(low, high, across), *(_line(results, value, low, high) for value in values)]
    for place, event in enumerate(last):
        what = f"{event.object}={event.value}" if event.do == "write" else SIGNS[event.do]
        x = LEFT + WIDE * place
        parts.append(f"<text x='{x}' y='{TOP + HIGH + 18}' text-anchor='middle'>{escape(what)}</text>")
        parts.append(f"<text x='{x}' y='{TOP + HIGH + 34}' text-anchor='middle' fill='#777'>{event.t:.4g} d</text>")
    style = "font: 11px system-ui, sans-serif; background: #fff"
    return f"<svg width='{across}' height='{TOP + HIGH + 42}' style='{style}' role='img'>{''.join(parts)}</svg>"


def low_top(scores: Sequence[float]) -> float:
    """Return the least top of the axis: 1 for scores that are shares."""
    return 1.0 if all(score <= 1.0 for score in scores) else 0.0


def _axis(low: float, high: float, across: int) -> str:
    lines = []
    for share in (0.0, 0.5, 1.0):
        y = TOP + HIGH * (1.0 - share)
        lines.append(f"<line x1='{LEFT - 8}' x2='{across}' y1='{y}' y2='{y}' stroke='#e5e5e5'/>")
        lines.append(f"<text x='{LEFT - 12}' y='{y + 4}' text-anchor='end'>{low + share * (high - low):.3g}</text>")
    return "".join(lines) + f"<text x='{LEFT - 50}' y='{TOP - 8}' fill='#777'>score</text>"


def _line(results: Sequence[PeekResult], value: str, low: float, high: float) -> str:
    colour = COLOURS[value]
    places = [(LEFT + WIDE * place, each.score(value)) for place, each in enumerate(results)]
    points = [(x, TOP + HIGH * (1.0 - (score - low) / ((high - low) or 1.0))) for x, score in places if math.isfinite(score)]
    if not points:
        return ""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = "".join(f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3' fill='{colour}'/>" for x, y in points)
    x, y = points[-1]
    aside = x + 8 + NAME * list(COLOURS).index(value)
    name = f"<text x='{aside:.1f}' y='{y + 4:.1f}' fill='{colour}' font-weight='bold'>{escape(value)}</text>"
    return f"<polyline points='{path}' fill='none' stroke='{colour}' stroke-width='2'/>{dots}{name}"
