"""Regions that a property allows: for each value compared with a number, the times of its windows and the safe values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from malsim.scenario.properties import formula as stl
from malsim.scenario.properties.render import render

if TYPE_CHECKING:
    from malsim.scenario.properties.trace import Trace

MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
NEGATION = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


@dataclass(frozen=True, slots=True)
class Region:
    """Value, as text and as read, that must lie between `low` and `high` from `begins` to `ends` (milliseconds)."""

    panel: str
    value: stl.Value
    begins: int
    ends: int
    low: float | None
    high: float | None


def regions(formula: stl.Formula, trace: Trace) -> list[Region]:
    """Return the regions of a property, in the order of its comparisons.

    What must hold at some time of a window only is shown over the whole of it.

    >>> from malsim.scenario.properties.parse import parse
    >>> from malsim.scenario.properties import Trace
    >>> import numpy as np
    >>> trace = Trace.of_arrays(range(6), {"x": np.zeros((6, 1))})
    >>> [(each.panel, each.begins, each.low, each.high) for each in regions(parse("always[1:2] not (x < 0.3)"), trace)]
    [('x', 86400000, 0.3, None)]
    """
    end = 0 if isinstance(formula, stl.Compare | stl.Bit) else int(trace.times[-1])
    return _inside(formula, trace, (0, end), wanted=True)


def _inside(formula: stl.Formula, trace: Trace, times: tuple[int, int], *, wanted: bool) -> list[Region]:
    parts: list[tuple[stl.Formula, tuple[int, int], bool]] = []
    match formula:
        case stl.Bit(value):
            return [Region(render(value), value, *times, *((0.5, None) if wanted else (None, 0.5)))]
        case stl.Compare():
            return _compared(formula, times, wanted=wanted)
        case stl.Not(operand):
            parts = [(operand, times, not wanted)]
        case stl.Edge(_, operand):
            parts = [(operand, times, wanted)]
        case stl.Join(word, left, right):
            parts = [(left, times, wanted != (word == "implies")), (right, times, wanted)]
        case stl.Over(word, operand, window):
            ahead = word in ("always", "eventually")
            parts = [(operand, _moved(times, window, trace) if ahead else times, wanted)]
        case stl.Between(word, left, right, window):
            later = _moved(times, window, trace) if word == "until" else times
            parts = [(left, (times[0], later[1]), wanted), (right, later, wanted)]
    return [region for part, when, holds in parts for region in _inside(part, trace, when, wanted=holds)]


def _moved(times: tuple[int, int], window: stl.Window | None, trace: Trace) -> tuple[int, int]:
    last = int(trace.times[-1])
    if window is None:
        return times[0], last
    unit = trace.period if window.in_ticks else 1
    start = int(trace.times[0]) if window.in_ticks and not times[0] else times[0]
    end = last if window.high is None or times[1] == last else times[1] + window.high.size * unit
    if times == (0, last) and window.high is not None:  # the outermost window opens once, at the start
        end = start + window.high.size * unit
    return start + window.low.size * unit, min(end, last)


def _compared(formula: stl.Compare, times: tuple[int, int], *, wanted: bool) -> list[Region]:
    left, relation, right = formula.left, formula.relation, formula.right
    if isinstance(left, stl.Number):
        left, relation, right = right, MIRROR[relation], left  # type: ignore[assignment]
    if isinstance(left, stl.Text | stl.Number) or isinstance(right, stl.Text):
        return []
    if not wanted:
        relation = NEGATION[relation]  # type: ignore[assignment]
    if not isinstance(right, stl.Number):
        left, right = stl.Apply("-", (left, right)), stl.Number(0.0)
    level = right.value
    match left:
        case stl.Apply("abs", (stl.Apply("-", (stl.Read() as value, stl.Number(centre))),)) if relation in ("<", "<="):
            return [Region(render(value), value, *times, centre - level, centre + level)]
        case _:
            low = level if relation in (">", ">=", "==") else None
            high = level if relation in ("<", "<=", "==") else None
            return [Region(render(left), left, *times, low, high)]
