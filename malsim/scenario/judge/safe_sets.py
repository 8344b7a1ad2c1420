"""Where a property asks for what: for each value compared with a number, the time of its windows and the values allowed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from malsim.scenario.properties.formula import (
    Apply,
    Between,
    Bit,
    Compare,
    Edge,
    Formula,
    Join,
    Not,
    Number,
    Over,
    Read,
    Text,
    Value,
)
from malsim.scenario.properties.render import render

if TYPE_CHECKING:
    from malsim.scenario.properties.formula import Window
    from malsim.scenario.properties.trace import Trace

__all__ = ["Region", "regions"]

MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
NEGATION = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


@dataclass(frozen=True, slots=True)
class Region:
    """A value, as text and as read, that is to lie between `low` and `high` from `begins` to `ends` (milliseconds)."""

    panel: str
    value: Value
    begins: int
    ends: int
    low: float | None
    high: float | None


def regions(formula: Formula, trace: Trace) -> list[Region]:
    """The regions of a property, in the order in which its comparisons stand.

    What must hold at some time of a window only is shown over the whole of it.

    >>> from malsim.scenario.properties.parse import parse
    >>> from malsim.scenario.properties import Trace
    >>> import numpy as np
    >>> trace = Trace.of_arrays(range(6), {"x": np.zeros((6, 1))})
    >>> [(each.panel, each.begins, each.low, each.high) for each in regions(parse("always[1:2] not (x < 0.3)"), trace)]
    [('x', 86400000, 0.3, None)]
    """
    return _inside(formula, trace, (0, 0 if isinstance(formula, Compare | Bit) else int(trace.times[-1])), wanted=True)


def _inside(formula: Formula, trace: Trace, times: tuple[int, int], *, wanted: bool) -> list[Region]:
    found: list[Region] = []
    match formula:
        case Not(operand):
            found = _inside(operand, trace, times, wanted=not wanted)
        case Join("implies", left, right):
            found = [*_inside(left, trace, times, wanted=not wanted), *_inside(right, trace, times, wanted=wanted)]
        case Join(_, left, right):
            found = [*_inside(left, trace, times, wanted=wanted), *_inside(right, trace, times, wanted=wanted)]
        case Over(word, operand, window):
            ahead = word in ("always", "eventually")
            found = _inside(operand, trace, _moved(times, window, trace) if ahead else times, wanted=wanted)
        case Between(word, left, right, window):
            later = _moved(times, window, trace) if word == "until" else times
            both = ((left, (times[0], later[1])), (right, later))
            found = [region for side, when in both for region in _inside(side, trace, when, wanted=wanted)]
        case Edge(_, operand):
            found = _inside(operand, trace, times, wanted=wanted)
        case Bit(value):
            found = [Region(render(value), value, *times, *((0.5, None) if wanted else (None, 0.5)))]
        case Compare():
            found = _compared(formula, times, wanted=wanted)
        case _:
            pass
    return found


def _moved(times: tuple[int, int], window: Window | None, trace: Trace) -> tuple[int, int]:
    """The times at which the part inside a window is looked at."""
    last = int(trace.times[-1])
    if window is None:
        return times[0], last
    unit = trace.period if window.in_ticks else 1
    start = int(trace.times[0]) if window.in_ticks and not times[0] else times[0]
    end = last if window.high is None or times[1] == last else times[1] + window.high.size * unit
    if times == (0, last) and window.high is not None:  # the outermost window opens once, at the start
        end = start + window.high.size * unit
    return start + window.low.size * unit, min(end, last)


def _compared(formula: Compare, times: tuple[int, int], *, wanted: bool) -> list[Region]:
    left, relation, right = formula.left, formula.relation, formula.right
    if isinstance(left, Number):
        left, relation, right = right, MIRROR[relation], left  # type: ignore[assignment]
    if isinstance(left, Text | Number) or isinstance(right, Text):
        return []
    if not wanted:
        relation = NEGATION[relation]  # type: ignore[assignment]
    if not isinstance(right, Number):
        left, right = Apply("-", (left, right)), Number(0.0)
    level = right.value
    match left:
        case Apply("abs", (Apply("-", (Read() as value, Number(centre))),)) if relation in ("<", "<="):
            return [Region(render(value), value, *times, centre - level, centre + level)]
        case _:
            low = level if relation in (">", ">=", "==") else None
            high = level if relation in ("<", "<=", "==") else None
            return [Region(render(left), left, *times, low, high)]
