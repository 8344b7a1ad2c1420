"""The push, for many readers at once: which cells each is shown about a fact, in order, within its budget of words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.marks import marked
from malsim.memory.ranking import foremost, fused
from malsim.memory.schema import NONE
from malsim.sim.occasion import Seen

if TYPE_CHECKING:
    from malsim.memory import Memory, Rules
    from malsim.sim.catalogue import Catalogue
    from malsim.sim.occasion import Array, Bools, Ints

__all__ = ["Pushed", "Stand"]

BUDGET_WORDS = 900
LIMIT = 10


@dataclass(frozen=True)
class Pushed:
    """The lines of each reader's mini-index, best first, shape (readers, lines): `row` is the cell, NONE for no line.

    `words` counts those of the lines, `demand` those there would be without a budget.
    """

    row: Ints
    marked: Bools
    words: Ints
    demand: Ints


class Stand:
    """The memory as the last tick left it, as the arrays that readers need; each is read once."""

    def __init__(self, memory: Memory, catalogue: Catalogue, rules: Rules) -> None:
        self.memory, self.catalogue, self.rules = memory, catalogue, rules
        self.effective: Array = memory.column("effective")
        self.active: Bools = memory.is_active

    @cached_property
    def listed(self) -> Bools:
        """Which cells a push may show: the active ones, and superseded ones that an active cell still cites."""
        if self.active.all():
            return self.active
        listed, cited = self.active.copy(), self.catalogue.cited(self.active)
        listed[cited] |= self.memory.values("status", cited) == 1
        return listed

    @cached_property
    def accuser(self) -> Ints:
        """The latest of the active cells that contradict each cell, NONE where none does."""
        accuser, accused = self.memory.wiring.accuser, self.memory.wiring.accused
        stands = np.flatnonzero(self.active[accuser])
        found = np.full(len(self.active), NONE, dtype=np.int64)
        np.maximum.at(found, accused[stands], accuser[stands])
        return found

    @cached_property
    def contradicted(self) -> Bools:
        """Which cells an active cell contradicts."""
        accuser, accused = self.memory.wiring.accuser, self.memory.wiring.accused
        contradicted = np.zeros(len(self.active), dtype=bool)
        contradicted[accused[np.flatnonzero(self.active[accuser])]] = True
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
    ) -> Pushed:
        """Mini-indexes about a fact each, for readers of replications `rep` (places), at `now` days.

        `budget` is one number of words, or one a reader. A candidate's text match is 1 for the fact's topic and 1 more for
        the fact itself; `ranking.fused` does the rest.
        """
        catalogue = self.catalogue
        cell = catalogue.shelf(rep, catalogue.topic_of[fact], self.listed)
        at = np.flatnonzero(cell != NONE)
        listed, reader = cell.reshape(-1)[at], at // cell.shape[1]
        match, touched = 1.0 + (catalogue.fact[listed] == fact[reader]), self.memory.values("touched", listed)
        worth = fused(match, catalogue.degree[listed], self.effective[listed], now - touched, self.rules, row=reader)
        score, last = np.full((2, *cell.shape), -np.inf)
        score.reshape(-1)[at], last.reshape(-1)[at] = worth, touched
        row = np.take_along_axis(cell, foremost(score, last, limit=limit), axis=1)  # the last of a shelf is NONE
        here = row != NONE
        words = (catalogue.words[row] * here).cumsum(axis=1)
        within = (words <= np.reshape(budget, (-1, 1))) & here
        row = np.where(within, row, NONE)
        pushed, demand = (words * within).max(axis=1, initial=0), words.max(axis=1, initial=0)
        return Pushed(row, self._marks(row, now) if marks else within, pushed, demand)

    def seen(self, rep: Ints, fact: Ints, now: float) -> Seen:
        """What a push about its fact shows each writer of that fact: rows about nothing else, in the push's order."""
        row = self.push(rep, fact, now, marks=False).row
        row = np.where((row != NONE) & (self.catalogue.fact[row] == fact[:, None]), row, NONE)
        order = np.argsort(row == NONE, axis=1, kind="stable")
        row = np.take_along_axis(row, order, axis=1)
        here = row != NONE
        return Seen(row, np.where(here, self.catalogue.value[row], NONE), np.where(here, self.effective[row], 0.0))

    def _marks(self, row: Ints, now: float) -> Bools:
        """Which of the lines bear a mark."""
        shown = np.flatnonzero(row != NONE)
        at, column = row.reshape(-1)[shown], self.memory.column
        found = np.zeros(row.shape, dtype=bool)
        found.reshape(-1)[shown] = marked(
            self.rules,
            stated=column("stated")[at],
            effective=self.effective[at],
            currency=self.memory.values("currency", at),
            superseded=~self.active[at],  # what is listed and not active is that
            contradicted=self.contradicted[at],
            overdue=(column("reverify") < now)[at],  # NaN, for none, is never past
            requires_review=column("requires_review")[at],
        )
        return found
