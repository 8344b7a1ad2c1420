"""Reviewers who follow a triage policy. At each tick, free reviewers take the disputes with the highest priority."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.base.errors import ScenarioError
from malsim.memory import Memory
from malsim.memory.schema import NONE
from malsim.netlist.engine import Engine
from malsim.netlist.language.parse import parse
from malsim.netlist.shipped.catalogue import signal_named, signals_text
from malsim.netlist.wiring import link
from malsim.sim.agent.oversight.priorities import PRIORITIES, DisputesByFact, TriageContext
from malsim.sim.agent.reviewer_pool import ReviewCases, ReviewerPool
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from malsim.memory import Rules
    from malsim.memory.graph.arrays import Array, Ints
    from malsim.sim.context.event_log import RunContext
    from malsim.sim.context.snapshot import Snapshot
    from malsim.sim.settings.reader import Reviewers
    from malsim.sim.settings.scenario import Scenario
    from malsim.sim.writers.engine.claim_batch import ClaimBatch

WEEK = 7 * DAY


class TriageDesk(ReviewerPool):
    """Pool of reviewers who choose which dispute to review next, using the policy `Reviewers.triage`.

    A fact is disputed if active claims state different values. A reviewed dispute reopens only after a new claim. The
    verdict contradicts the leading claim, its rival, or both, and supports the claim found to be right. The kth review of a
    fact uses the same random draw under every policy. `acted`, shape (facts, replications), counts actions per fact and is
    updated by the reader. `lasts` is the time constant of each fact's class, in ticks.
    """

    def __init__(
        self, reviewers: Reviewers, context: RunContext, *, who: int, form: int, turn_every: int, lasts: Array,
        acted: Array | None = None, signal: TriageSignal | None = None,
    ) -> None:  # fmt: skip
        super().__init__(reviewers, context, who=who, form=form)
        shape = (len(context.world.facts), len(context.reps))
        self._disputes = DisputesByFact(*shape, who=who)
        self._acted = np.zeros(shape) if acted is None else acted
        self._turn_every, self._ticks, self._lasts, self._signal = turn_every, 0, lasts, signal
        self._looks = np.zeros(shape, dtype=np.int64)  # number of reviews per fact and replication
        self._begun = np.zeros(shape[1], dtype=np.int64)  # number of reviews started in each replication
        self._today, self._day = np.zeros(shape[1]), 0

    @property
    def waiting(self) -> Ints:
        return np.asarray(super().waiting + self._disputes.is_open.sum(axis=0))

    def escalate(self, snapshot: Snapshot, now: int, day: float) -> None:
        disputes, policy = self._disputes, self.reviewers.triage
        self._ticks += 1
        disputes.look(snapshot)
        signal = self._signal.read(snapshot, day) if self._signal else np.zeros(0)
        is_open, about_cell = disputes.is_open.copy(), self._cases.row != NONE
        is_open[snapshot.cell_index.fact[self._cases.row[about_cell]], self._cases.rep[about_cell]] = False
        if not is_open.any():
            return
        luck = self._draws.uniform("triage", rep=self._reps, member=np.arange(len(is_open))[:, None], turn=self._ticks)
        score = PRIORITIES[policy](TriageContext(disputes, self._acted, luck, self.reviewers.accuracy, self._lasts, signal))
        order = np.argsort(np.where(is_open, -score, np.inf), axis=0, kind="stable")
        takes = np.take_along_axis(is_open, order, axis=0) & (np.arange(len(order))[:, None] < self._room(now))
        rep, index = np.nonzero(takes.T)
        fact, names = order[index, rep], self._log.names
        self._take(fact, rep, now)
        self._log.record("escalated", day, rep, subject=lambda: names(disputes.lead[fact, rep]),
                         detail=f"chosen by {policy}", cause=lambda: names(disputes.rival[fact, rep]))  # fmt: skip

    def review(self, snapshot: Snapshot, before: int) -> ClaimBatch:
        verdicts = super().review(snapshot, before)
        self._disputes.decide(verdicts.fact, verdicts.rep, verdicts.value)
        return verdicts

    def _take(self, fact: Ints, rep: Ints, now: int) -> None:
        disputes = self._disputes
        cases = ReviewCases.of(
            row=disputes.lead[fact, rep], other=disputes.rival[fact, rep], rep=rep,
            turn=self._looks[fact, rep] * len(self._looks) + fact, accuracy=self._accuracy(fact, rep, now),
        )  # fmt: skip
        self._queue(cases, now)
        self._looks[fact, rep] += 1
        self._begun += np.bincount(rep, minlength=len(self._begun))
        disputes.close(fact, rep)

    def _accuracy(self, fact: Ints, rep: Ints, now: int) -> Array:
        """Return each review's accuracy, which falls with every earlier review on the same day, but not below chance."""
        day = now // DAY
        if day != self._day:
            self._today[:], self._day = 0.0, day
        nth = np.arange(len(rep)) - np.searchsorted(rep, rep)
        before = (self._today[rep] + nth) // self.reviewers.count
        self._today += np.bincount(rep, minlength=len(self._today))
        chance = 1.0 / self._world.choices[fact]
        tired: Array = self.reviewers.accuracy * (1.0 - self.reviewers.tires) ** before
        return np.minimum(np.maximum(tired, chance), self.reviewers.accuracy)

    def _room(self, now: int) -> Ints:
        time_left = now + self._turn_every - np.maximum(self._free_at, now)
        room: Ints = np.maximum(-(-time_left // self.reviewers.each), 0).sum(axis=1)
        weekly = self.reviewers.weekly
        if weekly:
            allowed = np.floor(weekly * now / WEEK + 1e-9).astype(np.int64)
            room = np.minimum(room, allowed - self._begun)
        return room


def pool_of(
    reviewers: Reviewers, scenario: Scenario, context: RunContext, *, who: int, acted: Array | None = None
) -> ReviewerPool:
    if not reviewers.triage:
        return ReviewerPool(reviewers, context, who=who, form=1)
    rules, every = scenario.rules, scenario.turn_every
    lasts = np.array([getattr(rules, f"tau_{fact.stability}") * DAY / every for fact in scenario.facts])
    signal = TriageSignal(reps=context.reps, tick=every, rules=rules) if reviewers.triage == "rank" else None
    return TriageDesk(reviewers, context, who=who, form=1, turn_every=every, lasts=lasts, acted=acted, signal=signal)


NAME = "triage-rank"


class TriageSignal:
    """Netlist signal `triage-rank`, with one value per cell. Its ops have state, so `read` must be called at every tick."""

    def __init__(self, *, reps: Ints, tick: int, rules: Rules) -> None:
        net = link(parse(signals_text([NAME])))
        self._engine = Engine(net, replications=len(reps), first=int(reps[0]), tick=tick, rules=rules)
        self._value = f"{NAME}.{signal_named(NAME).value}"
        self._state = self._engine.start(Memory.empty())

    def read(self, snapshot: Snapshot, now: float) -> Array:
        if snapshot.view.graph is None:
            hint = 'choose another policy, or set law = "mal"'
            raise ScenarioError("the policy rank needs a claim graph", where="reviewers.triage", given="rank", hint=hint)
        self._state = self._engine.scan(self._state, snapshot.view.graph, now=now).state
        return np.asarray(np.nan_to_num(np.asarray(self._state.signals[self._value], dtype=np.float64)))
