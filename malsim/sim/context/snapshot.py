"""Snapshot of a memory after a tick: the lines pushed to many readers at once, and the answers about the facts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.memory.port import AnswersReads, KeepsApart
from malsim.memory.push.ranking import top_k
from malsim.memory.schema import NONE
from malsim.sim.writers.engine.claim_context import ShownRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.memory.port import View
    from malsim.sim.context.cell_index import CellIndex
    from malsim.sim.world import Fact

BUDGET_WORDS = 900
LIMIT = 10


@dataclass(frozen=True)
class Pushed:
    """Lines of each reader's mini-index, best first, in arrays of shape (readers, lines).

    `row` is the cell, or NONE for no line. `about` marks lines about the reader's fact itself, not just its topic. `marked`
    marks lines with the mark ^. `words` is the number of words in the lines, and `demand` the number without a word budget.
    """

    row: Ints
    about: Bools
    marked: Bools
    words: Ints
    demand: Ints


class Snapshot:
    """Snapshot of a memory after a tick: the memory's view and the index of its cells. Derived columns are cached."""

    def __init__(self, view: View, cell_index: CellIndex) -> None:
        self.view, self.cell_index, self.active = view, cell_index, view.active

    def showing(self, facts: Bools) -> Snapshot:
        """Return a snapshot without the cells about facts outside the mask `facts`, shape (facts, replications)."""
        part, index = Snapshot(self.view, self.cell_index), self.cell_index
        about = np.flatnonzero(index.fact[: len(self.active)] != NONE)
        part.active = self.active.copy()
        part.active[about] &= facts[index.fact[about], index.rep[about]]
        return part

    @cached_property
    def worth(self) -> Array:
        return self.view.rank if self.view.belief is None else self.view.belief

    @cached_property
    def speaking(self) -> Ints:
        return np.asarray(np.flatnonzero(self.active & (self.cell_index.value != NONE)))

    @cached_property
    def listed(self) -> Bools:
        """Mask of the cells that may be pushed: active cells, and superseded cells that an active cell cites."""
        if self.active.all():
            return self.active
        listed, cited = self.active.copy(), self.cell_index.cited(self.active)
        if cited.size:
            listed[cited] = self.view.column("status", cited) == 1
        return listed

    @property
    def _accusations(self) -> tuple[Ints, Ints]:
        return self.view.accusations() or (_NONE, _NONE)

    @cached_property
    def accuser(self) -> Ints:
        """Most recent active cell that contradicts each cell, or NONE if there is none."""
        accuser, accused = self._accusations
        latest = np.full(len(self.active), NONE, dtype=np.int64)
        np.maximum.at(latest, accused, accuser)
        return latest

    @cached_property
    def contradicted(self) -> Bools:
        contradicted = np.zeros(len(self.active), dtype=bool)
        contradicted[self._accusations[1]] = True
        return contradicted

    def push(
        self,
        rep: Ints,
        fact: Ints,
        now: float,
        *,
        limit: int = LIMIT,
        budget: Array | float = BUDGET_WORDS,
        marks: bool = True,
        rank_by: str = "",
    ) -> Pushed:
        """Return a mini-index for each reader about the reader's fact, at time `now` in days.

        `rep` holds replication indexes. A mini-index has at most `limit` (1 or more) lines. `budget` is a number of words,
        for all readers or one per reader. A cell's text match is 1 for the fact's topic and 2 for the fact itself.
        `rank_by` names a derived value that is added to each cell's rank.
        """
        cell_index = self.cell_index
        candidate, count = cell_index.of_topic(rep, cell_index.topic_of[fact], self.listed)
        lines = cell_index.lines.take(candidate)
        cells = _Candidates(candidate, count, lines, lines["fact"] == np.repeat(fact, count))
        match, degree = np.add(1.0, cells.about), cells.line["degree"]
        worth = self.view.order(cells.row, match=match, degree=degree, reader=cells.reader, now=now)
        derived = self.view.column(rank_by, cells.row) if rank_by else None
        worth = worth if derived is None else worth + np.nan_to_num(derived)
        touched = self.view.column("touched", cells.row)
        touched = np.zeros(len(cells.row)) if touched is None else touched
        index = top_k(cells.table(worth, fill=-np.inf), cells.table(touched), limit=limit)
        at = np.flatnonzero(index != NONE)
        line = (cells.first[:, None] + index).take(at)
        words = _entered(np.zeros(index.shape, dtype=np.int64), at, cells.line["words"][line])
        demand = pushed = words.sum(axis=1)
        if not np.all(demand <= budget):
            within = words.cumsum(axis=1) <= np.reshape(budget, (-1, 1))
            pushed, fits = (words * within).sum(axis=1), np.flatnonzero(within.take(at))
            at, line = at[fits], line[fits]
        row = _entered(np.full(index.shape, NONE, dtype=np.int64), at, cells.row[line])
        about, marked = np.zeros((2, *index.shape), dtype=bool)
        if marks:
            has_mark = self.view.marked(cells.row[line], now)
            if has_mark is not None:
                _entered(marked, at, has_mark)
        return Pushed(row, _entered(about, at, cells.about[line]), marked, pushed, demand)

    def rows_about(self, rep: Ints, fact: Ints, now: float) -> ShownRows:
        pushed = self.push(rep, fact, now, marks=False)
        at = np.flatnonzero(pushed.about)
        up = at - (~pushed.about).cumsum(axis=1).take(
            at
            # move each line up past the lines about other facts, which are dropped
        )
        cell, (row, value) = pushed.row.take(at), np.full((2, *pushed.row.shape), NONE, dtype=np.int64)
        return ShownRows(
            _entered(row, up, cell),
            _entered(value, up, self.cell_index.value[cell]),
            _entered(np.zeros(row.shape), up, self.worth[cell]),
        )


@dataclass(frozen=True)
class _Candidates:
    """Cells that may be shown, one per row, grouped by reader; `count` is the number of cells for each reader.

    `row` is the cell, `line` the cell's entry in the index, and `about` marks cells about the reader's fact itself.
    """

    row: Ints
    count: Ints
    line: NDArray[np.void]
    about: Bools

    @cached_property
    def first(self) -> Ints:
        return self.count.cumsum() - self.count

    @cached_property
    def reader(self) -> Ints:
        return np.repeat(np.arange(len(self.count)), self.count)

    @cached_property
    def _at(self) -> Ints:
        starts = np.arange(len(self.count)) * self.count.max(initial=0)
        return np.repeat(starts - self.first, self.count) + np.arange(len(self.row))

    def table(self, values: Array, fill: float = 0.0) -> Array:
        return _entered(np.full((len(self.count), self.count.max(initial=0)), fill), self._at, values)


def _entered(table: NDArray[Any], at: Ints, values: NDArray[Any]) -> NDArray[Any]:
    table.reshape(-1)[at] = values
    return table


_NONE = np.zeros(0, dtype=np.int64)


def shows(plant: Any, state: Any, now: float, facts: Ints, scope: str) -> Bools | None:
    """Return a mask of the facts visible in a scope, shape (facts, replications), or None if the memory has no scopes."""
    return plant.shows(state, facts, scope, now) if isinstance(plant, KeepsApart) else None


def within(snapshot: Snapshot, plant: Any, state: Any, now: float, facts: Sequence[Fact], scope: str) -> Snapshot:
    """Return the snapshot as visible in a scope: unchanged if no fact has a scope or the memory is an `AnswersReads`."""
    apart = any(fact.scope for fact in facts) and not isinstance(plant, AnswersReads)
    mask = shows(plant, state, now, np.arange(len(facts)), scope) if apart else None
    return snapshot if mask is None else snapshot.showing(mask)


def cells_true(snapshot: Snapshot, truth: Ints) -> Bools:
    """Return a mask of the cells that state the true value of their fact; `truth` has shape (facts, replications)."""
    cell_index = snapshot.cell_index
    about = (cell_index.fact != NONE) & (cell_index.value != NONE)
    return np.asarray(about & (cell_index.value == truth[cell_index.fact, cell_index.rep]))


def best_by_value(snapshot: Snapshot, truth: Ints) -> Array:
    """Return the highest score of any active claim of each value, shape (values, facts, replications); −∞ without one."""
    cell_index = snapshot.cell_index
    speaks = snapshot.speaking
    best = np.full(cell_index.most_values * truth.size, -np.inf)
    np.maximum.at(best, cell_index.says.take(speaks), snapshot.worth.take(speaks))
    return best.reshape(-1, *truth.shape)


def answer_signals(snapshot: Snapshot, truth: Ints, by_value: Array, *, full: bool) -> dict[str, Array]:
    """Return the answer signals by name, each of shape (facts, replications); NaN for facts without an active claim.

    `answer` is the value of the active claim with the highest effective confidence (the earliest in a tie), and `belief` is
    that confidence. `for_truth` and `against_truth` are the highest effective confidence of any claim of the true value and
    of any other value. Without `full`, `truth` and `answer` are left out because their values cannot be averaged. A memory
    without belief has only `right`, and answers by rank. In a tie of k values that include the true one, `right` is 1/k,
    unless ties go to the earliest value (`view.leads`). `by_value` comes from `best_by_value`.
    """
    cell_index, size = snapshot.cell_index, truth.size
    best = by_value.ravel().copy()
    of_truth = truth.ravel() * size + np.arange(size)
    good = best.take(of_truth).reshape(truth.shape)
    best[of_truth] = -np.inf
    wrong = best.reshape(-1, *truth.shape)
    bad = wrong.max(axis=0)
    right, most = (good > bad).astype(np.float64), np.maximum(good, bad)
    silent = most == -np.inf
    answer = np.full(truth.shape, NONE)
    # compute the answer only where it is recorded or must break a tie
    needs = ~silent & (full | (snapshot.view.leads & (good == bad)))
    if needs.any():
        index = cell_index.says.take(snapshot.speaking) % size
        needed = np.flatnonzero(needs.ravel().take(index))
        rows, index = snapshot.speaking[needed], index[needed]
        # in reverse order, so that the earliest leading cell is assigned last
        leads = np.flatnonzero(snapshot.worth[rows] == most.ravel()[index])[::-1]
        index, value = index[leads], cell_index.value[rows[leads]]
        answer.reshape(-1)[index] = value
        if snapshot.view.leads:
            right.reshape(-1)[index] = value == truth.ravel()[index]
    unclear = silent
    if not snapshot.view.leads:
        share = (good == most).astype(np.int64) + (wrong == most).sum(axis=0)
        right, unclear = np.where(good == most, 1.0 / share, 0.0), silent | (share > 1)
    signals = {"truth": truth.astype(np.float64), "answer": np.where(unclear, np.nan, answer)} if full else {}
    right = np.where(silent, np.nan, right)
    if snapshot.view.belief is None:
        return signals | {"right": right}
    return signals | {
        "belief": np.where(silent, np.nan, most),
        "right": right,
        "for_truth": np.where(good == -np.inf, np.nan, good),
        "against_truth": np.where(bad == -np.inf, np.nan, bad),
    }


def numbers(facts: Sequence[Fact], index: Array) -> Array:
    """Map value indexes, shape (facts, replications), to the numbers that claims use for these values. NaN stays NaN."""
    table = [np.array([fact.number(v) for v in range(len(fact.values))] + [np.nan]) for fact in facts]
    rows = np.where(np.isnan(index), -1, index).astype(np.int64)
    return np.stack([values[row] for values, row in zip(table, rows, strict=True)]) if facts else index
