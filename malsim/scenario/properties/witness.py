"""Witness of a margin: the comparison that decided the margin, and the tick at which it did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from malsim.scenario.properties import formula as stl
from malsim.scenario.properties.margins import Margins
from malsim.scenario.properties.render import render
from malsim.scenario.properties.trace import spans
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from malsim.scenario.properties.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """Comparison that decided the margin of a replication.

    `day` is None if the window contains no tick. `addresses` are the addresses that the clause reads, or the event's
    subject. `clause` is the comparison as text, `expected` the clause or its negation, and `got` the compared values.
    """

    replication: int
    day: float | None
    addresses: tuple[str, ...]
    clause: str
    expected: str
    got: str
    margin: float

    def __str__(self) -> str:
        """Format the witness on one line."""
        when = "no tick" if self.day is None else f"day {self.day:.6g}"
        where = f"replication {self.replication}, {when}"
        return f"{where}: expected {self.expected}, got {self.got}; margin {margin_text(self.margin)}"


def margin_text(margin: float, digits: int = 6) -> str:
    """Format a margin; 0 is followed by "exactly on the bound".

    >>> margin_text(0.0), margin_text(-0.25)
    ('0, exactly on the bound', '-0.25')
    """
    return f"{margin:.{digits}g}" + (", exactly on the bound" if margin == 0 else "")


def witness(formula: stl.Formula, trace: Trace, column: int, margin: float, fill: float | None = None) -> Witness:
    """Return the comparison that decided the margin of one replication, given by its column, at the start of the run."""
    descent = _Descent(trace.only(column), fill)
    clause, tick, wanted = descent.down(formula, 0, wanted=True, origin=0)
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
    """Search within one replication that descends from a formula to the part and the tick that decided its margin."""

    def __init__(self, trace: Trace, fill: float | None) -> None:
        self.margins = Margins(trace, keep=True, fill=fill)
        self.times = trace.times

    def got(self, clause: stl.Formula, tick: int) -> str:
        """Format the values on both sides of a comparison at a tick, or say whether the event occurred."""
        match clause:
            case stl.Compare(left, _, right):
                sides = [side for side in (left, right) if stl.reads(side)]
            case stl.Bit(value):
                sides = [value]
            case _:
                return "the event" if self._at(clause, tick) > 0 else "no such event"
        texts = []
        for side in sides:
            values = self.margins.value(side)  # constants have a single row for all ticks
            value = values[min(tick, len(values) - 1), 0]
            texts.append(f"{render(side)} = {value!r}" if values.dtype == object else f"{render(side)} = {value:.6g}")
        return ", ".join(texts)

    def _at(self, formula: stl.Formula, tick: int, origin: int | None = None) -> float:
        return float(self.margins.of(formula)[tick, 0] if origin is None else self.margins.at_start(formula)[0])

    def down(
        self, formula: stl.Formula, tick: int, *, wanted: bool, origin: int | None = None
    ) -> tuple[stl.Formula, int | None, bool]:
        """Return the part of a formula that decided its margin, the tick, and whether the part was expected to hold."""
        match formula:
            case stl.Not(operand):
                return self.down(operand, tick, wanted=not wanted, origin=origin)
            case stl.Join(word, left, right):
                return self._join(word, left, right, tick, wanted=wanted, origin=origin)
            case stl.Over(word, operand, window):
                margins = self.margins.of(operand)[:, 0]
                ticks = [other for other in self._ticks(word, window, tick, origin) if not np.isnan(margins[other])]
                pick = max if word in ("eventually", "once") else min
                extreme = pick(ticks, key=lambda other: margins[other], default=None)
                return (formula, None, wanted) if extreme is None else self.down(operand, extreme, wanted=wanted)
            case stl.Between():
                return self._between(formula, tick, wanted=wanted, origin=origin)
            case stl.Edge(word, operand):
                before = tick > 0 and self._at(operand, tick - 1) * (-1 if word == "rise" else 1)
                now = self._at(operand, tick) * (1 if word == "rise" else -1)
                earlier = tick > 0 and before < now
                return self.down(operand, tick - earlier, wanted=wanted == ((word == "rise") != earlier))
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
        return self.down((left, right)[side], tick, wanted=wanted != negated, origin=origin)

    def _between(
        self, formula: stl.Between, tick: int, *, wanted: bool, origin: int | None
    ) -> tuple[stl.Formula, int | None, bool]:
        ticks = self._ticks(formula.word, formula.window, tick, origin)
        step = 1 if formula.word == "until" else -1
        best: tuple[float, stl.Formula, int | None] = (-np.inf, formula.right, None)
        weakest: tuple[float, int] = (np.inf, tick)
        for end in range(tick, ticks.stop if step > 0 else ticks.start - 1, step):
            margin = self._at(formula.right, end)
            if end in ticks and min(margin, weakest[0]) > best[0]:
                best = (margin, formula.right, end) if margin <= weakest[0] else (weakest[0], formula.left, weakest[1])
            if self._at(formula.left, end) < weakest[0]:
                weakest = (self._at(formula.left, end), end)
        _, clause, decided = best
        return (clause, None, wanted) if decided is None else self.down(clause, decided, wanted=wanted)

    def _ticks(self, word: str, window: stl.Window | None, tick: int, origin: int | None) -> range:
        if word in ("always", "eventually", "until"):
            first, last = spans(window, self.times, origin=origin)
            return range(int(first[tick]), int(last[tick]) + 1)
        count = len(self.times)
        first, last = spans(window, (self.times[-1] - self.times)[::-1])
        from_end = count - 1 - tick
        return range(count - 1 - int(last[from_end]), count - int(first[from_end]))
