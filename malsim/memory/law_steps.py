"""Steps of the law beside the tick: what a reader sees before the next one, and ticking until nothing moves."""

from __future__ import annotations

import math
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from malsim.base.finite import finite
from malsim.memory.graph.edge_matrix import nan_to_zero
from malsim.memory.law import records, step, tick, updated
from malsim.memory.rules import Rules

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from malsim.memory.graph.arrays import Array, Ints
    from malsim.memory.graph.claim_graph import Memory
    from malsim.memory.law import WriterRecords


def effective_at(memory: Memory, now: float, rules: Rules | None = None) -> pl.Series:
    """What a tick at `now` days would give every cell: one step from the last tick with what was admitted since.

    Changes nothing; one value a cell, in the order of `memory.cells`.
    """
    return tick(memory, now, rules).table("cells").series("effective")


def effective_now(memory: Memory, rules: Rules | None = None) -> dict[int, float | None]:
    """The effective that a reader sees of the touched rows, as of `present`; None where none is known."""
    view = present(memory, rules)
    values = view.memory.column("effective")[view.touched]
    return dict(zip(view.touched.tolist(), none_for_nan(values), strict=True))


def none_for_nan(values: Array) -> list[float | None]:
    """The values, None for what is absent (NaN).

    >>> none_for_nan(np.array([0.5, np.nan]))
    [0.5, None]
    """
    return [None if math.isnan(value) else value for value in values.tolist()]


class Present(NamedTuple):
    """What a reader sees between two ticks: the `memory` with the scores of the `touched` rows as the law gives them now.

    `record` is what their factors rest on, None where nothing is touched; the writers of `memory` keep the last tick's.
    `before` is the memory that the next tick starts from.
    """

    memory: Memory
    touched: Ints
    before: Memory
    record: WriterRecords | None = None


def present(memory: Memory, rules: Rules | None = None) -> Present:
    """What a reader sees of a memory before the next tick: a contradiction admitted since the last one shows at once.

    A touched cell has the effective, the masses and the factor that a tick would give it now, every other its own. This is
    to be looked at only: the next tick starts from `memory` as it stands, and whoever is shown it sees it as it is. Under
    `reads` last tick, and where beliefs come from elsewhere, nothing is touched.
    """
    rules = rules or Rules()
    if memory.derived.view_of is not None:
        return Present(memory, *memory.derived.view_of)
    used, latest = memory.derived.view or (None, lambda: None)
    view: Memory | None = latest() if used == rules else None
    if view is None:
        moves = rules.reads == "now" and not isinstance(rules.effective, str)
        rows = touched(memory, rules) if moves else np.zeros(0, dtype=np.int64)
        if not rows.size:
            return Present(memory, rows, memory)
        view = _stepped(memory, rows, rules)
        memory.derived.view = rules, weakref.ref(view)  # one page asks for it several times
    return present(view)


def to_look_at(memory: Memory, rows: Ints, before: Memory, record: WriterRecords | None = None) -> Memory:
    """A memory that differs in some rows from the one `before`, for `present` to give as it is."""
    memory.derived.view_of = rows, before, record
    return memory


def touched(memory: Memory, rules: Rules) -> Ints:
    """The rows of active cells that the last tick did not see as they are.

    They are new and reinstated cells, targets of new edges, and targets of cells that are active no more. Whether a cell had
    effect at the last tick is read off its `worth`; one that rose from 0 there counts as new.
    """
    worth, active = memory.column("worth"), memory.is_active
    moved = active & (worth == 0.0) & (memory.column("effective") > 0.0)
    if rules.mass_neighbours == "active":
        moved |= ~active & (worth > 0.0)
    edges, rows = memory.table("edges"), moved.copy()
    rows[edges.column("target")[memory.scanned :]] = True
    if moved.any():
        rows[edges.column("target")[moved[edges.column("source")]]] = True
    return np.flatnonzero(rows & active)


def show(memory: Memory, rows: Ints, rules: Rules, record: WriterRecords | None) -> None:
    """Let `present` give a memory that is a part of another with these rows touched, by a record made of the whole."""
    if rows.size:
        view = _stepped(memory, rows, rules, record)
        memory.derived.view = rules, lambda: view
    else:
        to_look_at(memory, rows, memory)


def _stepped(memory: Memory, rows: Ints, rules: Rules, record: WriterRecords | None = None) -> Memory:
    """One step of the law, of some rows; what the others are worth to them stands beside it, for who explains them."""
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
    return to_look_at(memory.scored(scores | {"worth": result.worth}, {}), rows, memory, record)


@dataclass(frozen=True, kw_only=True)
class Settled:
    """What iterating the tick at one instant came to.

    `ticks` were made; if not `settled`, the last states repeat with `period` (None: no period was found among the last
    64) and `amplitude`, the largest swing of any one cell over them, and `ringing` marks the cells that move.
    """

    memory: Memory
    settled: bool
    ticks: int
    period: int | None
    amplitude: float
    ringing: NDArray[np.bool_]

    def __str__(self) -> str:
        """One sentence."""
        if self.settled:
            return f"settled in {self.ticks} ticks"
        shape = f"repeats every {self.period} ticks" if self.period else "still moving"
        return f"did not settle in {self.ticks} ticks: {shape}, amplitude {self.amplitude:.3g}, {self.ringing.sum()} cells"


HISTORY = 64


def settle(memory: Memory, now: float, rules: Rules | None = None) -> Settled:
    """Tick at one instant until no effective moves by more than `settle_tolerance`, at most `settle_ticks` times."""
    rules, now = rules or Rules(), finite(now, where="now")
    nothing = np.zeros(memory.height, dtype=bool)
    if not memory.height:
        return Settled(memory=memory, settled=True, ticks=0, period=None, amplitude=0.0, ringing=nothing)
    trail = [memory.column("effective")]
    record = records(memory, trail[-1], rules)
    for count in range(1, rules.settle_ticks + 1):
        if rules.wrong_when != "contradicted":  # the other forms read the values that are still moving
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
    """After how many ticks the states repeat; None if they do not, or if the swing is still shrinking."""
    for period in range(1, len(trail) // 2 + 1):
        if np.abs(trail[-1] - trail[-1 - period]).max() <= tolerance:
            late, early = (np.ptp(np.stack(part), axis=0) for part in (trail[-period:], trail[:period]))
            return period if np.abs(late - early).max() <= tolerance else None
    return None
