"""Scores of corrections: how long they last, what is lost with them, and what leaks from one scope to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.graph.arrays import ratio
from malsim.sim.world.censored_times import own_means

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.sim.settings.scenario import Scenario
    from malsim.sim.world.censored_times import Spells
    from malsim.sim.world.correction import Correction


class CorrectionScores:
    """Sums by replication over the ticks after corrections. Arrays have the shape (values, facts, replications).

    A value counts from its correction on, whether or not the memory complied. A false value that becomes true no longer
    counts. The correction of a true value is counted only as an action.
    """

    def __init__(self, values: int, facts: int, replications: int) -> None:
        shape = (values, facts, replications)
        self._over, self._forgotten, self._absent, self._back, self._ever = np.zeros((5, *shape), dtype=bool)
        self._since = np.full(shape, np.nan)
        self._deeds, self._refused, self._present, self._looks, self._silent, self._questions = np.zeros((6, replications))
        self._missing, self._others = np.zeros((2, replications))
        self._spared, self._before = np.ones((facts, replications), dtype=bool), np.zeros((facts, replications), dtype=bool)
        self._erases = np.zeros(replications, dtype=bool)  # replications in which an erasure was requested
        self._spells: Spells = []

    @property
    def sources(self) -> tuple[Ints, Ints, Ints]:
        value, fact, rep = np.nonzero(self._ever)
        return fact, rep, value

    def take(self, t: float, correction: Correction, rep: Ints, fact: Ints, value: Ints, obeyed: Bools) -> None:
        """Record a correction at `t` days, one row a value, and whether the memory complied."""
        replications = len(self._deeds)
        self._deeds += np.bincount(rep, minlength=replications)
        self._refused += np.bincount(rep[~obeyed], minlength=replications)
        self._spared[fact, rep] &= correction.do != "forget"
        self._erases[rep] |= correction.do == "forget"
        index = (value, fact, rep)
        if correction.what == "true":
            return
        self._ever[index] = True
        new = ~self._over[index]
        self._since[index] = np.where(new, t, self._since[index])
        self._absent[index] &= ~new
        self._over[index] = True
        self._forgotten[index] |= correction.do == "forget"

    def add(self, t: float, truth: Ints, best: Array) -> None:
        """Add a tick at `t` days: truth of shape (facts, replications), and the best worth of each value before it."""
        values = np.arange(len(best))[:, None, None]
        late = self._over & ~self._forgotten & (values == truth)
        self._finish(late & ~self._absent, t, ended=False)
        self._over &= ~late
        there = best > -np.inf
        answers = there & (best == best.max(axis=0))
        new = self._over & ~self._absent & ~answers
        self._finish(new, t, ended=True)
        self._back |= self._over & self._absent & answers
        self._absent |= new
        answered = there.any(axis=0)
        others = self._before & self._spared & self._erases
        self._others += others.sum(axis=0)
        self._missing += (others & ~answered).sum(axis=0)
        self._before |= answered & ~self._erases
        touched = self._over.any(axis=0)
        self._looks += self._over.sum(axis=(0, 1))
        self._present += (self._over & there).sum(axis=(0, 1))
        self._questions += touched.sum(axis=0)
        self._silent += (touched & ~answered).sum(axis=0)

    def close(self, t: float) -> None:
        self._finish(self._over & ~self._absent, t, ended=False)

    @property
    def spells(self) -> dict[str, Spells]:
        return {"correction_shows": self._spells}

    def figures(self) -> dict[str, Array]:
        """Return each figure by replication, NaN where it is undefined."""
        return {
            "resurfaced": ratio(self._back.sum(axis=(0, 1)).astype(np.float64), self._ended),
            "correction_shows": own_means(self._spells, len(self._deeds)),
            "residue": ratio(self._present, self._looks),
            "silent_after": ratio(self._silent, self._questions),
            "answers_lost": ratio(self._missing, self._others),
            "corrections_refused": ratio(self._refused, self._deeds),
        }

    @property
    def _ended(self) -> Array:
        count = np.zeros(len(self._deeds))
        for rep, _, ended in self._spells:
            np.add.at(count, rep[ended], 1.0)
        return count

    def _finish(self, which: Bools, t: float, *, ended: bool) -> None:
        value, fact, rep = np.nonzero(which)
        if len(rep):
            self._spells.append((rep, t - self._since[value, fact, rep], np.full(len(rep), ended)))


class ScopeScores:
    """Sums by replication over questions about facts of a scope, asked at every tick within every other scope."""

    def __init__(self, scenario: Scenario) -> None:
        self._owner = np.array([fact.scope for fact in scenario.facts])
        readers = {correction.reader for correction in scenario.corrections} | {writer.scope for writer in scenario.writers}
        names = {*self._owner.tolist(), *readers, scenario.reader.scope if scenario.reader else "", ""}
        self._shared = {name: np.zeros(len(self._owner), dtype=bool) for name in sorted(names)}
        self._closed, self._leaks, self._due, self._silent = np.zeros((4, scenario.replications))

    def share(self, facts: Ints, scope: str, *, shared: bool) -> None:
        self._shared[scope][facts] = shared

    def add(self, answered: Bools, shows: Callable[[Ints, str], Bools | None]) -> None:
        """Add a tick: the facts answered at all, shape (facts, replications), and those answered within a scope.

        A memory that knows no scopes (None) shows to all what it answers.
        """
        for scope, may_read in self._shared.items():
            facts = np.flatnonzero((self._owner != "") & (self._owner != scope))
            if not facts.size:
                continue
            there, allowed, own = shows(facts, scope), may_read[facts], answered[facts]
            there = own if there is None else there
            self._closed += np.count_nonzero(~allowed)
            self._leaks += there[~allowed].sum(axis=0)
            self._due += own[allowed].sum(axis=0)
            self._silent += (own & ~there)[allowed].sum(axis=0)

    def figures(self) -> dict[str, Array]:
        """Return each figure by replication, NaN where it is undefined."""
        return {"leaks": ratio(self._leaks, self._closed), "shared_silent": ratio(self._silent, self._due)}
