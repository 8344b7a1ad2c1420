"""Scores of corrections: how long they take to appear in answers, their side effects, and leaks between scopes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.graph.arrays import ratio
from malsim.sim.world.censored_times import add_spells, own_means

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.sim.settings.scenario import Scenario
    from malsim.sim.world.censored_times import Spells
    from malsim.sim.world.correction import Correction


class CorrectionScores:
    """Per-replication counts over the ticks after corrections. Arrays have the shape (values, facts, replications).

    A value counts from its correction until it becomes true, whether or not the memory complied. A correction of a true
    value counts only as an action.
    """

    def __init__(self, values: int, facts: int, replications: int) -> None:
        shape = (values, facts, replications)
        self._over, self._forgotten, self._absent, self._back, self._ever = np.zeros((5, *shape), dtype=bool)
        self._since = np.full(shape, np.nan)
        self._deeds, self._refused, self._present, self._looks, self._silent, self._questions = np.zeros((6, replications))
        self._missing, self._others = np.zeros((2, replications))
        self._spared, self._before = np.ones((facts, replications), dtype=bool), np.zeros((facts, replications), dtype=bool)
        # one flag per replication: True once an erasure has been requested
        self._erases = np.zeros(replications, dtype=bool)
        self.spells: dict[str, Spells] = {"correction_shows": []}

    @property
    def sources(self) -> tuple[Ints, Ints, Ints]:
        value, fact, rep = np.nonzero(self._ever)
        return fact, rep, value

    def take(self, t: float, correction: Correction, rep: Ints, fact: Ints, value: Ints, obeyed: Bools) -> None:
        """Record a correction at `t` days, one row per value. `obeyed` marks the values that the memory retracted."""
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
        """Update the scores with the state after a tick at `t` days.

        `truth` has the shape (facts, replications). `best` is the highest score of any active claim of each value.
        """
        values = np.arange(len(best))[:, None, None]
        late = self._over & ~self._forgotten & (values == truth)
        self._finish(late & ~self._absent, t, ended=False)
        self._over &= ~late
        stated = best > -np.inf
        answers = stated & (best == best.max(axis=0))
        new = self._over & ~self._absent & ~answers
        self._finish(new, t, ended=True)
        self._back |= self._over & self._absent & answers
        self._absent |= new
        answered = stated.any(axis=0)
        others = self._before & self._spared & self._erases
        self._others += others.sum(axis=0)
        self._missing += (others & ~answered).sum(axis=0)
        self._before |= answered & ~self._erases
        touched = self._over.any(axis=0)
        self._looks += self._over.sum(axis=(0, 1))
        self._present += (self._over & stated).sum(axis=(0, 1))
        self._questions += touched.sum(axis=0)
        self._silent += (touched & ~answered).sum(axis=0)

    def close(self, t: float) -> None:
        self._finish(self._over & ~self._absent, t, ended=False)

    def figures(self) -> dict[str, Array]:
        ended = np.zeros(len(self._deeds))
        for rep, _, has_ended in self.spells["correction_shows"]:
            np.add.at(ended, rep[has_ended], 1.0)
        return {
            "resurfaced": ratio(self._back.sum(axis=(0, 1)).astype(np.float64), ended),
            "correction_shows": own_means(self.spells["correction_shows"], len(self._deeds)),
            "residue": ratio(self._present, self._looks),
            "silent_after": ratio(self._silent, self._questions),
            "answers_lost": ratio(self._missing, self._others),
            "corrections_refused": ratio(self._refused, self._deeds),
        }

    def _finish(self, where: Bools, t: float, *, ended: bool) -> None:
        add_spells(self.spells["correction_shows"], where, t - self._since, ended=ended)


class ScopeScores:
    """Per-replication sums over cross-scope queries: at every tick, each scope asks about every other scope's facts."""

    def __init__(self, scenario: Scenario) -> None:
        self._owner = np.array([fact.scope for fact in scenario.facts])
        readers = {correction.reader for correction in scenario.corrections} | {writer.scope for writer in scenario.writers}
        names = {*self._owner.tolist(), *readers, scenario.reader.scope if scenario.reader else "", ""}
        self._shared = {name: np.zeros(len(self._owner), dtype=bool) for name in sorted(names)}
        self._closed, self._leaks, self._due, self._silent = np.zeros((4, scenario.replications))

    def share(self, facts: Ints, scope: str, *, shared: bool) -> None:
        self._shared[scope][facts] = shared

    def add(self, answered: Bools, shows: Callable[[Ints, str], Bools | None]) -> None:
        """Update the scores after a tick. `answered` is a mask of the facts with an answer, shape (facts, replications).

        `shows` returns the mask of the given facts that have an answer in a scope, or None if the memory has no scopes.
        """
        for scope, may_read in self._shared.items():
            facts = np.flatnonzero((self._owner != "") & (self._owner != scope))
            if not facts.size:
                continue
            visible, allowed, in_own_scope = shows(facts, scope), may_read[facts], answered[facts]
            visible = in_own_scope if visible is None else visible
            self._closed += np.count_nonzero(~allowed)
            self._leaks += visible[~allowed].sum(axis=0)
            self._due += in_own_scope[allowed].sum(axis=0)
            self._silent += (in_own_scope & ~visible)[allowed].sum(axis=0)

    def figures(self) -> dict[str, Array]:
        return {"leaks": ratio(self._leaks, self._closed), "shared_silent": ratio(self._silent, self._due)}
