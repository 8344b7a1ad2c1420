"""Index of the cells made by the claims of populations, by writer and fact."""

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
    from malsim.sim.engine.claim_schedule import DueClaims


class OwnClaims:
    """Latest cell, its value and the cells not yet superseded, by writer (index in the schedule) and fact.

    A writer learns the verdicts on its claims at the next turn. Of several about one fact in one turn the last is its
    latest; its other claims stay active until its next one about the fact supersedes them too.
    """

    def __init__(self, sizes: Ints, replications: int, facts: int) -> None:
        self._sizes, self._replications, self._facts = sizes, replications, facts
        self._starts = np.cumsum([0, *(sizes * replications)])
        size = int(self._starts[-1]) * facts
        self._row = np.full(size, NONE, dtype=np.int32)
        self._value = np.full(size, NONE, dtype=np.int8)
        self._first = np.full(len(sizes) * replications * facts, NONE, dtype=np.int32)  # by population, replication, fact
        self._unsuperseded = np.zeros((2, 0), dtype=np.int64)  # writer-fact index and row
        self._has_unsuperseded = np.zeros(size, dtype=bool)  # by place
        self._turn, self._spoke = (
            -1,
            np.zeros(0, dtype=np.int64),
        )  # current turn, and the writer-fact indexes asked for in it

    def on_verdicts(self, population: Ints, rep: Ints, member: Ints, fact: Ints, row: Ints, value: Ints) -> None:
        index = (self._starts[population] + rep * self._sizes[population] + member) * self._facts + fact
        self._row[index], self._value[index] = row, value
        unsuperseded = self._row[index] != row
        if unsuperseded.any():
            self._has_unsuperseded[index[unsuperseded]] = True
            self._unsuperseded = np.append(self._unsuperseded, [index[unsuperseded], row[unsuperseded]], axis=1)
        shared = (population * self._replications + rep) * self._facts + fact
        new = np.flatnonzero(self._first[shared] == NONE)[::-1]  # reversed, so that the first of several is written last
        self._first[shared[new]] = row[new]

    def own(self, due: DueClaims, turn: int) -> LatestClaims:
        """Return each writer's own latest claims. Each unsuperseded claim is returned once, for the next claim.

        `turn` is when the turn began; its claims may be asked for together or a few at a time.
        """
        if turn != self._turn:
            self._turn, self._spoke = turn, self._spoke[:0]
        index = due.place * self._facts + due.fact
        row, value = self._row[index].astype(np.int64), self._value[index].astype(np.int64)
        return LatestClaims(row, value, self._take_unsuperseded(index), partial(self.more, due))

    def more(self, due: DueClaims, what: str) -> NDArray[Any]:
        """Return a table that few behaviours need, for one population: `first`, `peers` or `again` (see `LatestClaims`)."""
        rows: NDArray[Any] = {"first": self._firsts, "peers": self._peers, "again": self._again}[what](due)
        return rows

    def _firsts(self, due: DueClaims) -> Ints:
        rows: Ints = self._first[(due.population * self._replications + due.rep) * self._facts + due.fact].astype(np.int64)
        return rows

    def _again(self, due: DueClaims) -> Bools:
        index = due.place * self._facts + due.fact
        again: Bools = (rank_within_group(index) > 0) | np.isin(index, self._spoke)
        self._spoke = np.append(self._spoke, index)
        return again

    def _peers(self, due: DueClaims) -> Ints:
        """Return the latest cells of the other members about each claim's fact, shape (claims, members)."""
        members = np.arange(self._sizes[due.population[0]])
        index = (due.place - due.member)[:, None] + members
        peers: Ints = self._row.reshape(-1, self._facts)[index, due.fact[:, None]].astype(np.int64)
        peers[np.arange(len(due)), due.member] = NONE
        return peers

    def _take_unsuperseded(self, place: Ints) -> Ints:
        """Return the unsuperseded cells of each place to its first claim, shape (claims, largest count)."""
        if not self._has_unsuperseded[place].any():
            return np.zeros((len(place), 0), dtype=np.int64)
        waiting, row = self._unsuperseded
        here, first = np.unique(place, return_index=True)
        at = np.searchsorted(here, waiting).clip(max=len(here) - 1)
        due = here[at] == waiting
        claim = first[at[due]]
        nth = rank_within_group(claim)
        rows = np.full((len(place), int(nth.max(initial=-1)) + 1), NONE)
        rows[claim, nth] = row[due]
        self._unsuperseded, self._has_unsuperseded[place] = self._unsuperseded[:, ~due], False
        return rows
