"""How readers think through a turn: what they open, which cell they trust, what they learn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.index import NONE
from malsim.sim.reader import FORGOTTEN

if TYPE_CHECKING:
    from malsim.sim.hooks import Turn
    from malsim.sim.occasion import Bools, Ints
    from malsim.sim.push import Stand
    from malsim.sim.session import Session

__all__ = ["Mind"]

RULES = ("opens", "digs", "weighs", "writes")


class Mind:
    """How the readers of all replications think through one turn."""

    def __init__(self, session: Session, stand: Stand, turn: Turn) -> None:
        self.session, self.stand, self.turn = session, stand, turn
        obeys, temper = session.obeys(turn.number), session.reader.temper
        self.opens, self.digs, self.weighs, self.writes = (
            np.where(obeys, getattr(temper, rule), getattr(FORGOTTEN, rule)) for rule in RULES
        )
        row = turn.pushed.row
        effective = stand.effective[row]
        trust = effective * stand.currency[row] if session.reader.trust != "effective" else effective
        self._value = np.where(turn.about, stand.catalogue.value[row], NONE)
        self._stands = turn.about & (self._value != NONE)
        self._trust = np.where(self._stands & stand.active[row], trust, -1.0)
        self._sensed = session.senses(turn)
        self._known = session.known(turn)
        self._dug = np.zeros(len(turn.fact), dtype=bool)

    def work(self) -> None:
        """Open, act, learn, write, as it does unasked."""
        turn = self.turn
        wanted = turn.about & (np.cumsum(turn.about, axis=1) <= int(self.session.reader.wants))
        turn.opened |= self.opens[:, None] & (turn.pushed.marked | wanted)
        everyone = np.ones(len(turn.fact), dtype=bool)
        self._act(everyone)
        self._learn(everyone)
        turn.written |= self.writes & (turn.learned != NONE)

    def again(self, blocked: Bools, attempt: int) -> None:
        """What those do who were blocked: open what is marked, think again if that is their way, write what they learned."""
        turn = self.turn
        complies = blocked & self.session.complies(turn, attempt)
        opens = complies[:, None] & turn.unopened
        turn.opened |= opens
        rethinks = opens.any(axis=1) & self.digs
        if rethinks.any():
            self._act(rethinks)
            self._learn(rethinks)
        turn.written |= complies & (turn.learned != NONE)

    def _act(self, who: Bools) -> None:
        """Trust a row; where it is marked and was opened, look at the world first and act on what agrees with that."""
        turn = self.turn
        fits = (self._known == NONE)[:, None] | (self._value == self._known[:, None])
        column = self._choice(fits)
        first = self._row(column)
        at = np.maximum(column, 0)
        everyone = np.arange(len(at))
        doubtful = (column != NONE) & turn.pushed.marked[everyone, at] & turn.opened[everyone, at] & self.digs
        self._dug = np.where(who, doubtful, self._dug)
        if doubtful.any():
            column = np.where(doubtful, self._choice(fits & (self._value == self._sensed[:, None])), column)
        acted = self._row(column)
        value = np.where(column == NONE, np.where(doubtful, NONE, self._known), self._value[everyone, np.maximum(column, 0)])
        turn.first, turn.acted = np.where(who, first, turn.first), np.where(who, acted, turn.acted)
        turn.value = np.where(who, value, turn.value)

    def _choice(self, fits: Bools) -> Ints:
        """The column each acts on: the most trusted that stands and is trusted enough, or the first title; NONE for none."""
        trust = np.where(fits, self._trust, -1.0)
        best = trust.argmax(axis=1)
        enough = trust[np.arange(len(best)), best] >= max(self.session.reader.act_above, 0.0)
        chosen: Ints = np.where(enough, best, NONE)
        if not self.weighs.all():
            title = self._stands & fits
            by_title = np.where(title.any(axis=1), title.argmax(axis=1), NONE)
            chosen = np.where(self.weighs, chosen, by_title)
        return chosen

    def _learn(self, who: Bools) -> None:
        """A lesson is an observation that differs from what was trusted first, unless its own standing claim says it."""
        turn, sees = self.turn, who & (self.session.observes(self.turn) | self._dug)
        first = np.where(turn.first == NONE, NONE, self.stand.catalogue.value[turn.first])
        own = self.session.own(turn)
        mine = (turn.pushed.row == own[:, None]) & (own != NONE)[:, None]
        said = (mine & (self._value == self._sensed[:, None])).any(axis=1)
        turn.observed = np.where(sees, self._sensed, np.where(who, NONE, turn.observed))
        learned = np.where(sees & (first != self._sensed) & ~said, self._sensed, NONE)
        turn.learned = np.where(who, learned, turn.learned)

    def _row(self, column: Ints) -> Ints:
        return np.where(column == NONE, NONE, self.turn.pushed.row[np.arange(len(column)), np.maximum(column, 0)])
