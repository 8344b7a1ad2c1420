"""Decisions that readers make during a turn: which lines to open, which cell to trust, and which lesson to write."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.sim.context.snapshot import Snapshot
    from malsim.sim.context.turn import Turn
    from malsim.sim.settings.reader import Reader


class Perception(Protocol):
    """Information that a session has about its readers during a turn, one row per replication; see `turns.Session`."""

    reader: Reader

    def obeys(self, number: int) -> Bools: ...
    def senses(self, turn: Turn) -> Ints: ...
    def remembers(self, turn: Turn) -> Ints: ...
    def happens(self, share: float, purpose: str, number: int, member: int = 0) -> Bools: ...
    def own(self, turn: Turn) -> Ints: ...
    def watched(self, turn: Turn) -> tuple[Bools, Bools]: ...


class ReaderPolicy:
    """Decisions made by the readers of all replications during one turn.

    Lines are indexes into the flattened table (replications, lines) of the turn. Values that do not depend on which lines
    have been opened are computed once.
    """

    def __init__(self, session: Perception, snapshot: Snapshot, turn: Turn) -> None:
        self.session, self.snapshot, self.turn = session, snapshot, turn
        obeys, policy = session.obeys(turn.number), session.reader.policy
        # readers that have forgotten the rules follow them only after the stop hook blocks a turn
        self.opens, self.verifies, self.uses_scores, self.writes = (
            obeys & does for does in (policy.opens, policy.verifies, policy.uses_scores, policy.writes)
        )
        self._believes = snapshot.view.belief is not None
        self._lines = np.flatnonzero(turn.about)
        self._rep = self._lines // turn.about.shape[1]
        self._cell = turn.pushed.row.take(self._lines)
        self._value, self._active = snapshot.cell_index.value[self._cell], snapshot.active[self._cell]
        self._context = session.remembers(turn)
        self._worth = self._line_worth()
        self._sensed = session.senses(turn)
        self._observes = session.happens(session.reader.observes, "observes", turn.number)
        self._watched, self._fires = session.watched(turn)

    def work(self) -> None:
        turn = self.turn
        self._trust()
        if self.opens.any():
            unasked = turn.about & (np.cumsum(turn.about, axis=1) <= int(self.session.reader.wants)) & ~self._watched
            turn.opened |= self.opens[:, None] & (turn.pushed.marked | unasked | self._fires)
            self._verify()
        turn.wrote |= self.writes & (turn.learned != NONE)

    def again(self, blocked: Bools, attempt: int) -> None:
        turn = self.turn
        share = self.session.reader.complies
        complies = blocked & self.session.happens(share, "complies", turn.number, attempt)
        turn.opened |= complies[:, None] & turn.pushed.marked
        if self.verifies.any():
            self._verify()
        if turn.check is not None:
            doubtful = complies & turn.unsound
            wrong = doubtful & ((turn.value != self._sensed) | turn.check.looked)
            turn.check.looked |= doubtful
            turn.observed = np.where(doubtful, self._sensed, turn.observed)
            turn.acted, turn.value = (np.where(wrong, NONE, column) for column in (turn.acted, turn.value))
            turn.learned = np.where(wrong & self._differs, self._sensed, turn.learned)
        turn.wrote |= complies & (turn.learned != NONE)

    def friend(self) -> Ints:
        """Return, for each reader, the first active cell shown that states the observed value, or NONE."""
        return self._first_shown(self._active & self._agrees)

    def rival(self) -> Ints:
        """Return, for each reader, the first active cell shown that states a different value, or NONE."""
        return self._first_shown(self._active & (self._value != NONE) & ~self._agrees)

    def _first_shown(self, mask: Bools) -> Ints:
        lines = np.flatnonzero(mask)[::-1]  # in reverse order, so that each reader's first line is assigned last
        cells = np.full(len(self._sensed), NONE, dtype=np.int64)
        cells[self._rep[lines]] = self._cell[lines]
        return cells

    def _line_worth(self) -> Array:
        """Return how much each line is trusted: ∞ if its reader ignores scores, −∞ if the line is excluded."""
        reader, snapshot, cell = self.session.reader, self.snapshot, self._cell
        trust = snapshot.worth[cell]
        currency = snapshot.view.column("currency", cell) if reader.trust != "effective" and self._believes else None
        if currency is not None:
            trust = trust * currency
        worth = np.where(self._active, trust, -np.inf)
        if not self.uses_scores.all():
            worth = np.where(self.uses_scores[self._rep], worth, np.inf)
        has_value = self._value != NONE
        if reader.recalls:
            context = self._context[self._rep]
            has_value &= (context == NONE) | (self._value == context)
        return np.where(has_value, worth, -np.inf)

    def _trust(self) -> None:
        turn, first = self.turn, self._first
        turn.first, turn.acted = first, first.copy()
        turn.value = np.where(first == NONE, self._context, self._value_of(first))
        turn.observed = np.where(self._observes, self._sensed, NONE)
        turn.learned = np.where(self._observes & self._differs, self._sensed, NONE)

    def _verify(self) -> None:
        turn, line = self.turn, self._trusted
        doubtful = self.verifies & (line != NONE) & ((turn.pushed.marked | self._fires) & turn.opened).take(line)
        reader = np.flatnonzero(doubtful)
        if not reader.size:
            return
        sensed, acted = self._sensed[reader], self._cell_at(self._confirmed[reader])
        turn.acted[reader] = acted
        turn.value[reader] = np.where(acted == NONE, NONE, self._value_of(acted))
        turn.observed[reader] = sensed
        turn.learned[reader] = np.where(self._differs[reader], sensed, NONE)

    @cached_property
    def _trusted(self) -> Ints:
        return self._best(self._worth)

    @cached_property
    def _first(self) -> Ints:
        return self._cell_at(self._trusted)

    @cached_property
    def _confirmed(self) -> Ints:
        return self._best(np.where(self._agrees, self._worth, -np.inf))

    @cached_property
    def _agrees(self) -> Bools:
        return np.asarray(self._value == self._sensed[self._rep])

    @cached_property
    def _differs(self) -> Bools:
        first = self._first
        news: Bools = (first == NONE) | (self._value_of(first) != self._sensed)
        own_claim = self._agrees & (self._cell == self.session.own(self.turn)[self._rep])
        news[self._rep[own_claim]] = False
        return news

    def _best(self, worth: Array) -> Ints:
        """Return the index of each reader's most trusted line (the first in a tie), or NONE if no line is trusted enough.

        In a memory without belief, the line of highest rank is always trusted enough.
        """
        table: Array = np.full(self.turn.about.shape, -np.inf)
        table.reshape(-1)[self._lines] = worth
        best = np.arange(0, table.size, table.shape[1]) + table.argmax(axis=1)
        top, least = table.take(best), self.session.reader.act_above if self._believes else -np.inf
        return np.where((top >= least) & (top > -np.inf), best, NONE)

    def _value_of(self, cell: Ints) -> Ints:
        return self.snapshot.cell_index.at("value", cell, none=NONE)

    def _cell_at(self, line: Ints) -> Ints:
        return np.where(line == NONE, NONE, self.turn.pushed.row.take(line))
