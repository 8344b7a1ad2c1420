"""Scores of a memory under attack: false answers, marks, collateral losses and the time to recovery."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.graph.arrays import ratio
from malsim.sim.world.censored_times import own_means
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.memory.graph.arrays import Array, Bools
    from malsim.sim.context.snapshot import Snapshot
    from malsim.sim.world.censored_times import Spells
    from malsim.sim.world.correction import Attack


class AttackScores:
    """Sums by replication over the ticks of an attack on facts, and the times from its end to a true answer.

    A lie is an answer that is not the truth. It is marked if the cell that gives it bears a mark (^), or, in a memory
    without marks, if an active item states another value. `facts` are the names of all facts, in order.
    """

    def __init__(self, attack: Attack, facts: Sequence[str], replications: int) -> None:
        self._here = np.array([not attack.facts or name in attack.facts for name in facts])
        self._start, self._end = attack.start / DAY, np.inf if attack.end is None else attack.end / DAY
        self._lies, self._questions, self._marked, self._losses, self._others = np.zeros((5, replications))
        self._waits: Bools | None = None
        self._spells: Spells = []

    def add(self, t: float, right: Array, best: Array, snapshot: Snapshot) -> None:
        """Add a tick at `t` days: right, shape (facts, replications), and the best worth of each value before it."""
        true = right == 1.0
        during = self._start <= t < self._end
        others = true[~self._here] if during or t >= self._end else true
        self._others += len(others)
        self._losses += (~others).sum(axis=0)
        if during:
            lies = self._here[:, None] & ~np.isnan(right) & ~true
            self._questions += self._here.sum()
            self._lies += lies.sum(axis=0)
            self._marked += _marked(t, lies, best, snapshot).sum(axis=0)
        elif t >= self._end:
            waits = np.broadcast_to(self._here[:, None], true.shape) if self._waits is None else self._waits
            self._finish(waits & true, t, ended=True)
            self._waits = waits & ~true

    def close(self, t: float) -> None:
        if self._waits is not None:
            self._finish(self._waits, t, ended=False)
            self._waits = None

    @property
    def spells(self) -> dict[str, Spells]:
        return {"recovery": self._spells}

    def figures(self) -> dict[str, Array]:
        """Return each figure by replication, NaN where it is undefined."""
        return {
            "attack_success": ratio(self._lies, self._questions),
            "attack_marked": ratio(self._marked, self._lies),
            "honest_lost": ratio(self._losses, self._others),
            "recovery": own_means(self._spells, len(self._lies)),
        }

    def _finish(self, which: Bools, t: float, *, ended: bool) -> None:
        rep = np.nonzero(which)[1]
        if len(rep):
            self._spells.append((rep, np.full(len(rep), t - self._end), np.full(len(rep), ended)))


def _marked(t: float, lies: Bools, best: Array, snapshot: Snapshot) -> Bools:
    """Return which false answers the memory shows as disputed, shape (facts, replications)."""
    if not lies.any():
        return lies
    rows = snapshot.speaking
    fact, rep = snapshot.cell_index.fact[rows], snapshot.cell_index.rep[rows]
    leads = lies[fact, rep] & (snapshot.worth[rows] == best.max(axis=0)[fact, rep])
    rows, fact, rep = rows[leads], fact[leads], rep[leads]
    bears = snapshot.view.marked(rows, t)
    marks = np.zeros(lies.shape, dtype=bool)
    if bears is None:
        marks |= (best > -np.inf).sum(axis=0) > 1
    else:
        marks[fact[bears], rep[bears]] = True
    return lies & marks
