"""Scores that a reader sees between ticks, and repetition of a tick until the scores settle."""

from __future__ import annotations

import math
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from malsim.base.finite import finite
from malsim.memory.graph.edge_matrix import nan_to_zero
from malsim.memory.law import DEFAULT, records, step, tick, updated
from malsim.memory.rules import Rules

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from malsim.memory.graph.arrays import Ints
    from malsim.memory.graph.claim_graph import Memory
    from malsim.memory.law import WriterRecords


def effective_at(memory: Memory, now: float, rules: Rules | None = None) -> pl.Series:
    """Return the effective confidence that a tick on day `now` would give every cell, in the order of `memory.cells`.

    The memory is not changed.
    """
    return tick(memory, now, rules).table("cells").series("effective")


def effective_now(memory: Memory, rules: Rules | None = None) -> dict[int, float | None]:
    """Map each row that changed since the last tick to the effective confidence that a reader sees (see `present`)."""
    view = present(memory, rules)
    values = zip(view.moved.tolist(), view.memory.column("effective")[view.moved].tolist(), strict=True)
    return {row: None if math.isnan(value) else value for row, value in values}


class Present(NamedTuple):
    """Memory as a reader sees it between two ticks.

    `memory` has current scores in the rows `moved`, and those of the last tick elsewhere. `before` is the memory from which
    the next tick starts. `record` holds the writers' records behind the current factors, None if no row moved; the writers
    of `memory` have those of the last tick.
    """

    memory: Memory
    moved: Ints
    before: Memory
    record: WriterRecords | None = None


def present(memory: Memory, rules: Rules | None = None) -> Present:
    """Return the memory as readers see it before the next tick. Every interface reads through this function.

    If nothing was admitted since the last tick, the scores are those of that tick. After an admission, every active cell of
    the replication has the calibration, masses and effective confidence that a tick would give it now; currency, salience,
    flags and writers' counters are those of the last tick. The view is read-only: a claim, a tick or a save continues from
    `before`, so reading never advances the memory. Under `reads = "last tick"`, and if beliefs come from a law or a
    netlist, scores do not change between ticks.
    """
    rules = rules or DEFAULT
    if memory.derived.view_of is not None:
        return Present(memory, *memory.derived.view_of)
    used, latest = memory.derived.view or (None, lambda: None)
    view: Memory | None = latest() if used == rules else None
    if view is None:
        moves = rules.reads == "now" and not isinstance(rules.effective, str)
        rows = moved(memory) if moves else _NO_ROWS
        if not rows.size:
            return Present(memory, rows, memory)
        view = _stepped(memory, rows, rules)
        memory.derived.view = rules, weakref.ref(view)  # cached, because showing one cell needs the view several times
    return present(view)


_NO_ROWS = np.zeros(0, dtype=np.int64)


def as_view(memory: Memory, rows: Ints, before: Memory, record: WriterRecords | None = None) -> Memory:
    """Mark `memory` as a view of `before` that differs from it in `rows`, so that `present` returns `memory` unchanged."""
    memory.derived.view_of = rows, before, record
    return memory


def moved(memory: Memory) -> Ints:
    """Return the active rows of all replications that have admitted claims or edges since the last tick.

    A cell that no tick has read with its present status has no `worth` (NaN). The last tick read the first `scanned` edges.
    """
    unseen, targets = np.isnan(memory.column("worth")), memory.table("edges").column("target")[memory.scanned :]
    if not (targets.size or unseen.any()):
        return _NO_ROWS
    rep = memory.column("rep")
    reps = np.union1d(rep[unseen], rep[targets])
    return np.flatnonzero(np.isin(rep, reps) & memory.is_active)


def update_worth(memory: Memory, before: Memory) -> Memory:
    """Count changes that ops made to cells right after a tick as part of that tick. `before` is the memory before the ops.

    Claims that the ops made remain later than the tick.
    """
    height = before.height
    rows = np.flatnonzero(np.isnan(memory.column("worth")[:height]) & ~np.isnan(before.column("worth")))
    return memory.changed(rows, {"worth": before.values("worth", rows)})


def show(memory: Memory, rows: Ints, rules: Rules, record: WriterRecords | None) -> None:
    """Make `present` recompute these rows of a partial memory, using the writers' records of the complete memory."""
    if rows.size:
        view = _stepped(memory, rows, rules, record)
        memory.derived.view = rules, lambda: view
    else:
        as_view(memory, rows, memory)


def _stepped(memory: Memory, rows: Ints, rules: Rules, record: WriterRecords | None = None) -> Memory:
    """Return a view in which the given rows have been advanced by one step of the law."""
    before = memory.column("effective")
    record = record or records(memory, before, rules)
    result = step(memory, before, record.calibration, rules)
    fresh = {
        "effective": result.effective, "support_mass": result.support, "challenge_mass": result.challenge,
        "calibration": record.calibration.take(memory.column("author")),
    }  # fmt: skip
    if rules.recompute == "admit":
        del fresh["calibration"]
    scores = {name: memory.column(name).copy() for name in fresh}
    for name, values in fresh.items():
        scores[name][rows] = values[rows]
    return as_view(memory.scored(scores | {"worth": result.worth}, {}), rows, memory, record)


@dataclass(frozen=True, kw_only=True)
class Settled:
    """Result of repeating a tick on the same day until the scores settle.

    `ticks` is the number of ticks. If not `settled`, the last states repeat with `period` (None: no period in the last 64
    states); `amplitude` is the largest swing of a cell over them, and `ringing` marks the cells that move.
    """

    memory: Memory
    settled: bool
    ticks: int
    period: int | None
    amplitude: float
    ringing: NDArray[np.bool_]

    def __str__(self) -> str:
        if self.settled:
            return f"settled in {self.ticks} ticks"
        shape = f"repeats every {self.period} ticks" if self.period else "still moving"
        return f"did not settle in {self.ticks} ticks: {shape}, amplitude {self.amplitude:.3g}, {self.ringing.sum()} cells"


HISTORY = 64


def settle(memory: Memory, now: float, rules: Rules | None = None) -> Settled:
    """Repeat the tick on day `now` until no cell's effective confidence changes by more than the tolerance."""
    rules, now, memory = rules or Rules(), finite(now, where="now"), memory.recorded
    nothing = np.zeros(memory.height, dtype=bool)
    if not memory.height:
        return Settled(memory=memory, settled=True, ticks=0, period=None, amplitude=0.0, ringing=nothing)
    trail = [memory.column("effective")]
    record = records(memory, trail[-1], rules)
    for count in range(1, rules.settle_ticks + 1):
        if rules.wrong_when != "contradicted":  # all other values count outcomes by effective confidence
            record = records(memory, trail[-1], rules)
        result = step(memory, trail[-1], record.calibration, rules)
        change = float(nan_to_zero(np.abs(result.effective - trail[-1])).max())
        trail = [*trail[1 - HISTORY :], result.effective]
        if change <= rules.settle_tolerance:
            after = updated(memory, result, record, now, rules)
            return Settled(memory=after, settled=True, ticks=count, period=None, amplitude=0.0, ringing=nothing)
    trail = [nan_to_zero(state) for state in trail]
    period = _period(trail, rules.settle_tolerance)
    span = np.stack(trail[-(period or len(trail)) :])
    swing = np.ptp(span, axis=0)
    return Settled(
        memory=updated(memory, result, record, now, rules),
        settled=False,
        ticks=rules.settle_ticks,
        period=period,
        amplitude=float(swing.max()),
        ringing=swing > rules.settle_tolerance,
    )


def _period(trail: list[NDArray[np.float64]], tolerance: float) -> int | None:
    for period in range(1, len(trail) // 2 + 1):
        if np.abs(trail[-1] - trail[-1 - period]).max() <= tolerance:
            late, early = (np.ptp(np.stack(part), axis=0) for part in (trail[-period:], trail[:period]))
            return period if np.abs(late - early).max() <= tolerance else None
    return None
