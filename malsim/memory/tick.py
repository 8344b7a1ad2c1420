"""The tick: one snapshot, then every live cell's new scores at once; and settling, which is ticking until still."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.errors import RulesError
from malsim.memory import calibration, scores
from malsim.memory.answers import wrong_by_answer
from malsim.memory.columns import Column, Rows
from malsim.memory.pending import after
from malsim.memory.rules import Rules

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from malsim.memory.cells import Memory
    from malsim.memory.numbering import Bools
    from malsim.memory.pending import Law
    from malsim.memory.rules import Formula
    from malsim.memory.scores import Array

__all__ = ["Settled", "effective_at", "factors_at", "settle", "tick"]


def tick(memory: Memory, now: float, rules: Rules | None = None) -> Memory:
    """Recompute every active cell's calibration, masses, effective, currency and salience from the state as it is.

    One Jacobi step: masses come from the values before the tick. Superseded and annexed cells keep theirs. `now` is in
    days; a `now` before a cell was touched counts as no time passed. Ticking reinforces nothing.
    """
    rules = rules or Rules()
    if not memory.height:
        return memory
    scan = _Scan(memory, now, rules)
    effective = memory.table("cells").kept("effective")
    records = scan.records(effective.values)
    step = scan.step(effective, records.factor)
    return scan.written(step, records)


def effective_at(memory: Memory, now: float, rules: Rules | None = None) -> pl.Series:
    """What a reader sees between ticks: one step from the last tick's snapshot with what was admitted since.

    Changes nothing; one value a cell, in the order of `memory.cells`.
    """
    return tick(memory, now, rules).table("cells").series("effective")


def factors_at(memory: Memory, rules: Rules | None = None) -> NDArray[np.float64]:
    """The factor that the next tick gives each active cell; the others keep theirs."""
    scan = _Scan(memory, 0.0, rules or Rules())
    factor = scan.records(memory.column("effective")).factor
    held = memory.table("cells").kept("calibration")
    return scan.among(held, scan.live(factor[memory.column("author")])).values


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
    rules = rules or Rules()
    nothing = np.zeros(memory.height, dtype=bool)
    if not memory.height:
        return Settled(memory=memory, settled=True, ticks=0, period=None, amplitude=0.0, ringing=nothing)
    scan = _Scan(memory, now, rules)
    effective = memory.table("cells").kept("effective")
    trail = [effective.values]
    records = scan.records(trail[-1])
    for made in range(1, rules.settle_ticks + 1):
        if rules.wrong_when != "contradicted":  # the other forms read the values that are still moving
            records = scan.records(trail[-1])
        step = scan.step(effective, records.factor)
        effective = step.effective
        moved = float(np.abs(effective.values - trail[-1]).max())
        trail = [*trail[1 - HISTORY :], effective.values]
        if moved <= rules.settle_tolerance:
            after = scan.written(step, records)
            return Settled(memory=after, settled=True, ticks=made, period=None, amplitude=0.0, ringing=nothing)
    period = _period(trail, rules.settle_tolerance)
    span = np.stack(trail[-(period or len(trail)) :])
    swing = np.ptp(span, axis=0)
    return Settled(
        memory=scan.written(step, records),
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


@dataclass(frozen=True)
class _Step:
    """What each cell is worth to others, what a tick scores it by, and effective after it; inactive cells keep theirs."""

    worth: Law
    support: Array
    challenge: Array
    effective: Column


@dataclass(frozen=True)
class _Records:
    claims: NDArray[np.int64]
    contradicted: NDArray[np.int64]
    factor: Array


class _Scan:
    """One memory's columns as arrays, read once for one tick or for many at the same instant.

    Most cells of a long run are superseded: what is computed is computed for the active rows, and written among the others.
    """

    def __init__(self, memory: Memory, now: float, rules: Rules) -> None:
        self.memory, self.now, self.rules = memory, now, rules
        self.all_active = len(memory.active) == memory.height
        self.author, self.stated = (self.live(memory.column(name)) for name in ("author", "stated"))

    def live(self, held: NDArray[Any]) -> NDArray[Any]:
        """The active cells' part of a column."""
        return held if self.all_active else held.take(self.memory.active)

    def among(self, column: Column, fresh: Array) -> Column:
        """A column in which the active cells hold something new."""
        return Column(fresh) if self.all_active else column.changed(self.memory.active, fresh)

    def records(self, effective: Array) -> _Records:
        """Every writer's outcomes and factor, from this snapshot."""
        memory, rules, writers = self.memory, self.rules, self.memory.table("writers").height
        wrong = self.wrong(effective)
        rows = np.flatnonzero(wrong)
        author = memory.column("author").take(rows)
        contradicted = np.bincount(author, minlength=writers)
        if rules.calibration == "brier":  # elsewhere what is right costs nothing
            rows, author = np.arange(len(wrong)), memory.column("author")
        penalties = calibration.penalty(memory.column("stated").take(rows), wrong.take(rows), form=rules.calibration)
        total = np.bincount(author, weights=penalties, minlength=writers).astype(np.float64)
        return _Records(memory.claims, contradicted, calibration.factors(memory.claims, total, rules))

    def wrong(self, effective: Array) -> NDArray[np.bool_]:
        """Which cells count as wrong outcomes, by `wrong_when` and `evidence_from`."""
        memory, rules = self.memory, self.rules
        if rules.wrong_when == "lost":
            return wrong_by_answer(memory, effective)
        if rules.wrong_when == "contradicted":
            return memory.contradicted(rules.evidence_from)
        accuser, accused = memory.accusations(rules.evidence_from)
        outweighed = memory.is_active[accuser] & (effective[accuser] > effective[accused])
        wrong = memory.replaced(rules.evidence_from).copy()
        wrong[accused[outweighed]] = True
        return wrong

    def step(self, effective: Column, factor: Array) -> _Step:
        """One step of the map effective → effective."""
        memory, rules = self.memory, self.rules
        worth = effective.values if rules.mass_from == "effective" else memory.column("stated")
        every = rules.mass_neighbours == "every"
        heard = None if every or self.all_active else memory.is_active
        of_all = every or rules.effective is not None  # masses of cells that are not active too
        support, challenge = (memory.wiring if of_all else memory.living).masses(worth, heard)
        fresh = self._formula(factor, support, challenge)
        if rules.damping < 1.0:
            before = self.live(effective.values)
            fresh = before + rules.damping * (fresh - before)
        law = worth.__getitem__ if heard is None else lambda at: worth[at] * heard[at]
        return _Step(law, support, challenge, self.among(effective, fresh))

    def _formula(self, factor: Array, support: Array, challenge: Array) -> Array:
        """What the active cells come to, of the factor of each writer and the masses of each cell."""
        rules, held = self.rules, self.memory.column("calibration") if self.rules.recompute == "admit" else None
        if rules.effective is not None:
            by_cell = factor[self.memory.column("author")] if held is None else held
            return self.live(self._own_formula(rules.effective, by_cell, support, challenge))
        by_cell = factor.take(self.author) if held is None else self.live(held)
        return scores.effective(
            self.stated,
            by_cell,
            self.live(support),
            self.live(challenge),
            support_ceiling=rules.support_ceiling,
            challenge_ceiling=rules.challenge_ceiling,
        )

    def _own_formula(self, formula: Formula, factor: Array, support: Array, challenge: Array) -> Array:
        """A formula of the user's own, of all cells: it is asked for a value of each."""
        stated = self.memory.column("stated")
        fresh = np.array(formula(stated, factor, support, challenge), dtype=np.float64)
        if fresh.shape != stated.shape or not bool(((fresh >= 0.0) & (fresh <= 1.0)).all()):
            raise RulesError(
                "your formula must give one value in [0, 1] for each cell",
                where="rules.effective",
                given=f"shape {fresh.shape}, from {fresh.min(initial=1.0):g} to {fresh.max(initial=0.0):g}",
                allowed=f"shape {stated.shape}, 0 to 1",
                hint="end it with numpy.clip(…, 0, 1)",
            )
        return fresh

    def written(self, step: _Step, records: _Records) -> Memory:
        """The memory with this step's scores, and with currency and salience as of now.

        All but effective, from which the next tick starts, are computed when somebody reads them.
        """
        rules, memory, cells = self.rules, self.memory, self.memory.table("cells")
        active, pinned = memory.is_active, memory.column("pinned")
        ages = active & ~pinned if pinned.any() else active
        laws: dict[str, tuple[Bools, Law]] = {
            "worth": (np.ones(memory.height, dtype=bool), step.worth),
            "support_mass": (active, step.support.__getitem__),
            "challenge_mass": (active, step.challenge.__getitem__),
            "currency": (ages, self._currency()),
            "salience": (ages, self._salience()),
        }
        if rules.recompute != "admit":
            author, factor = memory.column("author"), records.factor
            laws["calibration"] = active, lambda at: factor[author[at]]
        columns = after({name: cells.kept(name) for name in laws}, laws) | {"effective": step.effective}
        if rules.pinned_currency != "held":
            fixed = np.flatnonzero(active & pinned)
            columns["currency"] = columns["currency"].changed(fixed, memory.column("c0")[fixed])
        return memory.with_scores(columns, claims=records.claims, contradicted=records.contradicted, factor=records.factor)

    def _currency(self) -> Law:
        now, floor, tau = self.now, self.rules.currency_floor, self.rules.tau()
        c0, touched, stability = (self.memory.table("cells").kept(name) for name in ("c0", "touched", "stability"))
        return lambda at: scores.currency(c0.at(at), now - touched.at(at), tau[stability.at(at)], floor=floor)

    def _salience(self) -> Law:
        """Salience counts from when each cell was last opened, or else touched."""
        now, floor, tau = self.now, self.rules.salience_floor, self.rules.salience_tau
        seed, touched, read = (self.memory.table("cells").kept(name) for name in ("salience_seed", "touched", "read"))

        def law(at: Rows) -> Array:
            opened = read.at(at)
            seen = np.where(np.isnan(opened), touched.at(at), opened)
            return scores.decayed_salience(seed.at(at), now - seen, floor=floor, tau=tau)

        return law
