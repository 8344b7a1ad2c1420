"""Explanation of a margin: down the formula to the one comparison, at the one tick, that decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from malsim.scenario.properties import formula as stl
from malsim.scenario.properties.margins import Margins
from malsim.scenario.properties.render import render
from malsim.scenario.properties.windows import spans
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from malsim.scenario.properties.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """Comparison that decided a replication's margin.

    `day` is None if the window held no tick to decide. `addresses` are what the clause reads, or the event's subject.
    `clause` is the comparison as text, with what was expected and what it got.
    """

    replication: int
    day: float | None
    addresses: tuple[str, ...]
    clause: str
    expected: str
    got: str
    margin: float

    def __str__(self) -> str:
        """Return the witness in one line."""
        when = "no tick" if self.day is None else f"day {self.day:.6g}"
        where = f"replication {self.replication}, {when}"
        return f"{where}: expected {self.expected}, got {self.got}; margin {margin_text(self.margin)}"


def margin_text(margin: float, digits: int = 6) -> str:
    """Return a margin as people read it; 0 is exactly on the bound.

    >>> margin_text(0.0), margin_text(-0.25)
    ('0, exactly on the bound', '-0.25')
    """
    return f"{margin:.{digits}g}" + (", exactly on the bound" if margin == 0 else "")


def witness(formula: stl.Formula, trace: Trace, column: int, margin: float, fill: float | None = None) -> Witness:
    """Return the comparison that decided one replication's margin (a column of the trace) at the run's start."""
    descent = _Descent(trace.only(column), fill)
    clause, tick, wanted = descent.start(formula)
    text = render(clause)
    return Witness(
        replication=int(trace.replications[column]),
        day=None if tick is None else float(trace.times[tick] / DAY),
        addresses=(clause.subject or clause.kind,) if isinstance(clause, stl.AtEvent) else stl.reads(clause),
        clause=text,
        expected=text if wanted else f"not ({text})",
        got="no tick in its window" if tick is None else descent.got(clause, tick),
        margin=margin,
    )


class _Descent:
    """Descent in one replication: each step goes to the part, and the tick, that gave the margin."""

    def __init__(self, trace: Trace, fill: float | None) -> None:
        self.margins = Margins(trace, keep=True, fill=fill)
        self.times = trace.times

    def start(self, formula: stl.Formula) -> tuple[stl.Formula, int | None, bool]:
        """Search from the run's start, where windows of time open on day 0."""
        return self._down(formula, 0, wanted=True, origin=0)

    def got(self, clause: stl.Formula, tick: int) -> str:
        """Return the values of a comparison at a tick, as text."""
        match clause:
            case stl.Compare(left, _, right):
                sides = [side for side in (left, right) if stl.reads(side)]
            case stl.Bit(value):
                sides = [value]
            case _:
                return "the event" if self._at(clause, tick) > 0 else "no such event"
        return ", ".join(f"{render(side)} = {self._text(side, tick)}" for side in sides)

    def _text(self, side: stl.Value, tick: int) -> str:
        values = self.margins.value(side)  # constants have a single row for all ticks
        value = values[min(tick, len(values) - 1), 0]
        return repr(value) if values.dtype == object else f"{value:.6g}"

    def _at(self, formula: stl.Formula, tick: int, origin: int | None = None) -> float:
        return float(self.margins.of(formula)[tick, 0] if origin is None else self.margins.at_start(formula)[0])

    def _down(
        self, formula: stl.Formula, tick: int, *, wanted: bool, origin: int | None = None
    ) -> tuple[stl.Formula, int | None, bool]:
        match formula:
            case stl.Not(operand):
                return self._down(operand, tick, wanted=not wanted, origin=origin)
            case stl.Join(word, left, right):
                return self._join(word, left, right, tick, wanted=wanted, origin=origin)
            case stl.Over(word, operand, window):
                ticks = self._ticks(word, window, tick, origin)
                extreme = self._extreme(operand, ticks, largest=word in ("eventually", "once"))
                return (formula, None, wanted) if extreme is None else self._down(operand, extreme, wanted=wanted)
            case stl.Between():
                return self._between(formula, tick, wanted=wanted, origin=origin)
            case stl.Edge(word, operand):
                before = tick > 0 and self._at(operand, tick - 1) * (-1 if word == "rise" else 1)
                now = self._at(operand, tick) * (1 if word == "rise" else -1)
                earlier = tick > 0 and before < now
                return self._down(operand, tick - earlier, wanted=wanted == ((word == "rise") != earlier))
            case _:
                return formula, tick, wanted

    def _join(
        self, word: str, left: stl.Formula, right: stl.Formula, tick: int, *, wanted: bool, origin: int | None
    ) -> tuple[stl.Formula, int | None, bool]:
        sides = [self._at(side, tick, origin) for side in (left, right)]
        if word == "implies":
            sides[0] = -sides[0]
        side = int(np.nanargmin(sides) if word == "and" else np.nanargmax(sides))
        negated = word == "implies" and side == 0
        return self._down((left, right)[side], tick, wanted=wanted != negated, origin=origin)

    def _between(
        self, formula: stl.Between, tick: int, *, wanted: bool, origin: int | None
    ) -> tuple[stl.Formula, int | None, bool]:
        ticks = self._ticks(formula.word, formula.window, tick, origin)
        step = 1 if formula.word == "until" else -1
        best: tuple[float, stl.Formula, int | None] = (-np.inf, formula.right, None)
        weakest: tuple[float, int] = (np.inf, tick)
        for end in range(tick, ticks.stop if step > 0 else ticks.start - 1, step):
            comes = self._at(formula.right, end)
            if end in ticks and min(comes, weakest[0]) > best[0]:
                best = (comes, formula.right, end) if comes <= weakest[0] else (weakest[0], formula.left, weakest[1])
            if self._at(formula.left, end) < weakest[0]:
                weakest = (self._at(formula.left, end), end)
        clause, at = best[1], best[2]
        return (clause, None, wanted) if at is None else self._down(clause, at, wanted=wanted)

    def _ticks(self, word: str, window: stl.Window | None, tick: int, origin: int | None) -> range:
        if word in ("always", "eventually", "until"):
            first, last = spans(window, self.times, origin=origin)
            return range(int(first[tick]), int(last[tick]) + 1)
        count = len(self.times)
        first, last = spans(window, (self.times[-1] - self.times)[::-1])
        from_end = count - 1 - tick
        return range(count - 1 - int(last[from_end]), count - int(first[from_end]))

    def _extreme(self, formula: stl.Formula, ticks: range, *, largest: bool) -> int | None:
        """Return the first of the ticks with the largest or smallest margin; None if none has one."""
        margins = self.margins.of(formula)[:, 0]
        candidates = [tick for tick in ticks if not np.isnan(margins[tick])]
        return (max if largest else min)(candidates, key=lambda tick: margins[tick], default=None)
