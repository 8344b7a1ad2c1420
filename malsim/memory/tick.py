"""The tick: one snapshot, then every live cell's new scores at once; and settling, which is ticking until still."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from malsim.errors import RulesError
from malsim.memory import calibration, scores
from malsim.memory.answers import wrong_by_answer
from malsim.memory.rules import Rules

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from malsim.memory.cells import Memory

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
    effective = memory.column("effective")
    records = scan.records(effective)
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
    factor = scan.records(memory.column("effective")).factor[scan.author]
    return np.where(scan.active, factor, memory.column("calibration"))


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
    trail = [memory.column("effective")]
    records = scan.records(trail[-1])
    for made in range(1, rules.settle_ticks + 1):
        if rules.wrong_when != "contradicted":  # the other forms read the values that are still moving
            records = scan.records(trail[-1])
        step = scan.step(trail[-1], records.factor)
        moved = float(np.abs(step.effective - trail[-1]).max())
        trail = [*trail[1 - HISTORY :], step.effective]
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
    worth: NDArray[np.float64]
    support: NDArray[np.float64]
    challenge: NDArray[np.float64]
    calibration: NDArray[np.float64]
    effective: NDArray[np.float64]


@dataclass(frozen=True)
class _Records:
    claims: NDArray[np.int64]
    contradicted: NDArray[np.int64]
    factor: NDArray[np.float64]


class _Scan:
    """One memory's columns as arrays, read once for one tick or for many at the same instant."""

    def __init__(self, memory: Memory, now: float, rules: Rules) -> None:
        self.memory, self.now, self.rules = memory, now, rules
        self.stated, self.author = memory.column("stated"), memory.column("author")
        self.active = memory.column("status") == 0
        self.all_active = bool(self.active.all())

    def records(self, effective: NDArray[np.float64]) -> _Records:
        """Every writer's outcomes and factor, from this snapshot."""
        rules, writers = self.rules, self.memory.table("writers").height
        claims, wrong = self.memory.claims, self.wrong(effective)
        contradicted = np.bincount(self.author[wrong], minlength=writers)
        penalised = wrong if rules.calibration != "brier" else np.ones(len(wrong), dtype=bool)  # what is right costs nothing
        penalties = calibration.penalty(self.stated[penalised], wrong[penalised], form=rules.calibration)
        total = np.bincount(self.author[penalised], weights=penalties, minlength=writers).astype(np.float64)
        return _Records(claims, contradicted, calibration.factors(claims, total, rules))

    def wrong(self, effective: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which cells count as wrong outcomes, by `wrong_when` and `evidence_from`."""
        memory, rules = self.memory, self.rules
        if rules.wrong_when == "lost":
            return wrong_by_answer(memory, effective)
        if rules.wrong_when == "contradicted":
            return memory.contradicted(rules.evidence_from)
        accuser, accused = memory.accusations(rules.evidence_from)
        outweighed = self.active[accuser] & (effective[accuser] > effective[accused])
        wrong = memory.replaced(rules.evidence_from).copy()
        wrong[accused[outweighed]] = True
        return wrong

    def step(self, effective: NDArray[np.float64], factor: NDArray[np.float64]) -> _Step:
        """One step of the map effective → effective."""
        rules = self.rules
        worth = effective if rules.mass_from == "effective" else self.stated
        if rules.mass_neighbours == "active" and not self.all_active:
            worth = worth * self.active
        support, challenge = self.memory.wiring.masses(worth)
        fixed = rules.recompute == "admit"
        factor_now = self.memory.column("calibration") if fixed else factor[self.author]
        fresh = self._formula(factor_now, support, challenge)
        if rules.damping < 1.0:
            fresh = effective + rules.damping * (fresh - effective)
        return _Step(worth, support, challenge, factor_now, _kept(effective, fresh, where=self.active))

    def _formula(
        self, factor: NDArray[np.float64], support: NDArray[np.float64], challenge: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        rules = self.rules
        if rules.effective is None:
            ceilings = {"support_ceiling": rules.support_ceiling, "challenge_ceiling": rules.challenge_ceiling}
            return scores.effective(self.stated, factor, support, challenge, **ceilings)
        fresh = np.array(rules.effective(self.stated, factor, support, challenge), dtype=np.float64)
        if fresh.shape != self.stated.shape or not bool(((fresh >= 0.0) & (fresh <= 1.0)).all()):
            raise RulesError(
                "your formula must give one value in [0, 1] for each cell",
                where="rules.effective",
                given=f"shape {fresh.shape}, from {fresh.min(initial=1.0):g} to {fresh.max(initial=0.0):g}",
                allowed=f"shape {self.stated.shape}, 0 to 1",
                hint="end it with numpy.clip(…, 0, 1)",
            )
        return fresh

    def written(self, step: _Step, records: _Records) -> Memory:
        """The memory with this step's scores, and with currency and salience as of now."""
        memory, rules = self.memory, self.rules
        pinned = memory.column("pinned")
        free = self.active & ~pinned
        columns = {"effective": step.effective, "worth": step.worth}
        for name, fresh in (("currency", self._currency()), ("salience", self._salience())):
            columns[name] = _kept(memory.column(name), fresh, where=free)
        if rules.pinned_currency != "held":
            columns["currency"] = _kept(columns["currency"], memory.column("c0"), where=self.active & pinned)
        for name, fresh in (("support_mass", step.support), ("challenge_mass", step.challenge)):
            columns[name] = _kept(memory.column(name), fresh, where=self.active)
        if rules.recompute != "admit":
            columns["calibration"] = _kept(memory.column("calibration"), step.calibration, where=self.active)
        return memory.with_scores(columns, claims=records.claims, contradicted=records.contradicted, factor=records.factor)

    def _currency(self) -> NDArray[np.float64]:
        memory, rules = self.memory, self.rules
        elapsed = self.now - memory.column("touched")
        return scores.currency(
            memory.column("c0"), elapsed, rules.tau()[memory.column("stability")], floor=rules.currency_floor
        )

    def _salience(self) -> NDArray[np.float64]:
        """Salience as of now, from when each cell was last opened, or else touched."""
        memory, rules = self.memory, self.rules
        read = memory.column("read")
        seen = np.where(np.isnan(read), memory.column("touched"), read)
        seed = memory.column("salience_seed")
        return scores.decayed_salience(seed, self.now - seen, floor=rules.salience_floor, tau=rules.salience_tau)


def _kept(old: NDArray[np.float64], new: NDArray[np.float64], *, where: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The new scores where they hold, the old ones elsewhere."""
    return new if where.all() else np.where(where, new, old)
