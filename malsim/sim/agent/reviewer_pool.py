"""Reviewers who settle escalated disputes, with one queue per replication."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.memory.schema import NONE
from malsim.sim.world import SENSES
from malsim.sim.world.draws import Draws
from malsim.sim.writers.engine.claim_batch import ClaimBatch
from malsim.sim.writers.engine.claim_context import LEAST_STATED, DraftEdge

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.sim.context.event_log import RunContext
    from malsim.sim.context.snapshot import Snapshot
    from malsim.sim.settings.reader import Reviewers


class ReviewerPool:
    """Reviewers who handle escalated cells in order of arrival, separately in each replication.

    A cell is escalated once, at the first tick at which an active cell contradicts it. A reviewer observes the fact and
    writes an externally verified claim of kind ver, which supports the cell if the cell agrees with the observation, and
    contradicts the cell otherwise. Netlist alarms are queued too. `acknowledged` marks the replications in which an alarm
    was reviewed since the previous scan.
    """

    def __init__(self, reviewers: Reviewers, context: RunContext, *, who: int, form: int) -> None:
        self.reviewers, self.context, self.who, self.form = reviewers, context, who, form
        self._world, self._reps, self._log = context.world, context.reps, context.log
        reps = context.reps
        self._draws = Draws(context.seed, "reviewers")
        self._escalated = np.zeros(0, dtype=bool)
        self._free_at = np.zeros((len(reps), reviewers.count), dtype=np.int64)
        self._cases = ReviewCases.of(row=0, rep=np.zeros(0, dtype=np.int64), turn=0, accuracy=0.0)
        self.verdicts: Ints = np.zeros(len(reps), dtype=np.int64)
        self.acknowledged: Bools = np.zeros(len(reps), dtype=bool)

    @property
    def waiting(self) -> Ints:
        return np.bincount(self._cases.rep, minlength=len(self._reps)).astype(np.int64)

    def escalate(self, snapshot: Snapshot, now: int, day: float) -> None:
        cell_index = snapshot.cell_index
        size = len(snapshot.active)
        self._escalated = np.append(self._escalated, np.zeros(size - len(self._escalated), dtype=bool))
        disputed = snapshot.contradicted & snapshot.active & ~self._escalated
        row = np.flatnonzero(disputed & (cell_index.fact != NONE) & (cell_index.value != NONE))
        if not row.size:
            return
        self._escalated[row] = True
        rep = cell_index.rep[row].astype(np.int64)
        turn = cell_index.ordinal[row].astype(np.int64)
        self._queue(ReviewCases.of(row=row, rep=rep, turn=turn, accuracy=self.reviewers.accuracy), now)
        names = self._log.names
        self._log.record("escalated", day, rep, subject=lambda: names(row), detail="an active cell contradicts it",
                         cause=lambda: names(snapshot.accuser[row]))  # fmt: skip

    def summon(self, rep: Ints, now: int) -> None:
        self._queue(ReviewCases.of(row=np.full(len(rep), NONE), rep=rep, turn=np.zeros(len(rep)), accuracy=1.0), now)

    def _queue(self, cases: ReviewCases, now: int) -> None:
        self._cases = self._cases.joined(replace(cases, due=self._served(cases.rep, now)))

    def review(self, snapshot: Snapshot, before: int) -> ClaimBatch:
        over = self._cases.due + self.reviewers.late < before
        alarm = over & (self._cases.row == NONE)
        self.acknowledged = np.bincount(self._cases.rep[alarm], minlength=len(self._reps)) > 0
        done, self._cases = self._cases.rows(over & ~alarm), self._cases.rows(~over)
        if not len(done.row):
            return ClaimBatch.none()
        self.verdicts += np.bincount(done.rep, minlength=len(self._reps))
        cell_index = snapshot.cell_index
        fact = cell_index.fact[done.row].astype(np.int64)
        uniforms = self._draws.uniform(SENSES, rep=self._reps[done.rep], turn=done.turn)
        value = self._world.observe(uniforms, done.accuracy, rep=done.rep, fact=fact, t=done.due)
        edges = []
        for cell in (done.row, done.other)[: 1 + bool((done.other != NONE).any())]:
            agrees = value == cell_index.at("value", cell, none=NONE)
            edges.append(DraftEdge("supports", np.where(agrees, cell, NONE)))
            edges.append(DraftEdge("contradicts", np.where(agrees, NONE, cell)))
        return ClaimBatch.of(
            edges, rep=done.rep, t=done.due + self.reviewers.late, who=self.who, turn=done.turn, fact=fact, value=value,
            stated=max(self.reviewers.accuracy, LEAST_STATED), form=self.form,
        )  # fmt: skip

    def _served(self, rep: Ints, now: int) -> Ints:
        done = np.zeros(len(rep), dtype=np.int64)
        waiting: Bools = np.ones(len(rep), dtype=bool)
        while waiting.any():  # each pass assigns one case per replication
            case = np.flatnonzero(waiting)[np.unique(rep[waiting], return_index=True)[1]]
            reviewer = self._free_at[rep[case]].argmin(axis=1)
            done[case] = np.maximum(self._free_at[rep[case], reviewer], now) + self.reviewers.each
            self._free_at[rep[case], reviewer] = done[case]
            waiting[case] = False
        return done


@dataclass(frozen=True, kw_only=True)
class ReviewCases:
    """Disputes under review, one per row.

    `row` is the cell in question (NONE for an alarm) and `other` the contradicting cell (NONE if there is none). `rep` is
    the index of the replication and `due` the end of the review in ms. `turn` addresses the random draws and numbers the
    reviewers' claims. `accuracy` is the accuracy of the review.
    """

    row: Ints
    other: Ints
    rep: Ints
    due: Ints
    turn: Ints
    accuracy: Array

    @classmethod
    def of(cls, *, row: Any, rep: Any, turn: Any, accuracy: Any, other: Any = NONE) -> ReviewCases:
        row, other, rep, due, turn = (np.full(len(rep), column, dtype=np.int64) for column in (row, other, rep, 0, turn))
        return cls(row=row, other=other, rep=rep, due=due, turn=turn, accuracy=np.full(len(rep), accuracy, dtype=np.float64))

    def rows(self, mask: Bools) -> ReviewCases:
        return ReviewCases(**{part.name: getattr(self, part.name)[mask] for part in fields(self)})

    def joined(self, other: ReviewCases) -> ReviewCases:
        return ReviewCases(**{
            part.name: np.append(getattr(self, part.name), getattr(other, part.name)) for part in fields(self)
        })  # fmt: skip
