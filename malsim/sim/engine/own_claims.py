"""Index of the cells that each population member has created, keyed by writer and fact."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.memory.graph.frames import rank_within_group
from malsim.memory.schema import NONE
from malsim.sim.writers.engine.claim_context import LatestClaims

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.memory.graph.arrays import Bools, Ints
    from malsim.sim.engine.population_process import DueClaims


class OwnClaims:
    """Index of each writer's latest cell about each fact, the cell's value, and older cells that are not yet superseded.

    Writers learn the verdicts on their claims at the next turn. If a writer made several claims about a fact in one turn,
    the last is its latest; the others stay active until its next claim about the fact supersedes them too.
    """

    def __init__(self, sizes: Ints, replications: int, facts: int) -> None:
        self._sizes, self._replications, self._facts = sizes, replications, facts
        self._starts = np.cumsum([0, *(sizes * replications)])
        size = int(self._starts[-1]) * facts
        self._row = np.full(size, NONE, dtype=np.int32)
        self._value = np.full(size, NONE, dtype=np.int8)
        # cell of each population's first claim, per replication and fact
        self._first = np.full(len(sizes) * replications * facts, NONE, dtype=np.int32)
        self._unsuperseded = np.zeros((2, 0), dtype=np.int64)  # rows: writer-fact index, cell
        self._has_unsuperseded = np.zeros(size, dtype=bool)  # one flag per writer-fact index
        self._turn = -1
        self._spoke = np.zeros(0, dtype=np.int64)  # writer-fact indexes queried in the current turn

    def on_verdicts(self, population: Ints, rep: Ints, member: Ints, fact: Ints, row: Ints, value: Ints) -> None:
        index = (self._starts[population] + rep * self._sizes[population] + member) * self._facts + fact
        self._row[index], self._value[index] = row, value
        unsuperseded = self._row[index] != row
        if unsuperseded.any():
            self._has_unsuperseded[index[unsuperseded]] = True
            self._unsuperseded = np.append(self._unsuperseded, [index[unsuperseded], row[unsuperseded]], axis=1)
        shared = (population * self._replications + rep) * self._facts + fact
        # in reverse order, so that the first claim is assigned last
        new = np.flatnonzero(self._first[shared] == NONE)[::-1]
        self._first[shared[new]] = row[new]

    def own(self, due: DueClaims, turn: int) -> LatestClaims:
        """Return, for each due claim, its writer's latest claim about the same fact. `turn` is the turn's start time in ms.

        Unsuperseded claims are returned only once, for the writer's next claim.
        """
        if turn != self._turn:
            self._turn, self._spoke = turn, self._spoke[:0]
        index = due.writer * self._facts + due.fact
        row, value = self._row[index].astype(np.int64), self._value[index].astype(np.int64)
        return LatestClaims(row, value, self._take_unsuperseded(index), partial(self.more, due))

    def more(self, due: DueClaims, name: str) -> NDArray[Any]:
        if name == "peers":
            return self._peers(due)
        if name == "first":
            shared = (due.population * self._replications + due.rep) * self._facts + due.fact
            return self._first[shared].astype(np.int64)  # type: ignore[no-any-return]
        index = due.writer * self._facts + due.fact
        again: Bools = (rank_within_group(index) > 0) | np.isin(index, self._spoke)
        self._spoke = np.append(self._spoke, index)
        return again

    def _peers(self, due: DueClaims) -> Ints:
        members = np.arange(self._sizes[due.population[0]])
        index = (due.writer - due.member)[:, None] + members
        peers: Ints = self._row.reshape(-1, self._facts)[index, due.fact[:, None]].astype(np.int64)
        peers[np.arange(len(due)), due.member] = NONE
        return peers

    def _take_unsuperseded(self, index: Ints) -> Ints:
        """Remove and return the cells that each writer's next claim about a fact must supersede, shape (claims, cells)."""
        if not self._has_unsuperseded[index].any():
            return np.zeros((len(index), 0), dtype=np.int64)
        waiting, row = self._unsuperseded
        distinct, first = np.unique(index, return_index=True)
        position = np.searchsorted(distinct, waiting).clip(max=len(distinct) - 1)
        due = distinct[position] == waiting
        claim = first[position[due]]
        nth = rank_within_group(claim)
        rows = np.full((len(index), int(nth.max(initial=-1)) + 1), NONE)
        rows[claim, nth] = row[due]
        self._unsuperseded, self._has_unsuperseded[index] = self._unsuperseded[:, ~due], False
        return rows
