"""Scores of a memory after changes of truth and under attack: time to correction, stale answers, false answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.graph.arrays import ratio
from malsim.memory.schema import NONE
from malsim.sim.world.censored_times import add_spells, own_means
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.sim.context.snapshot import Snapshot
    from malsim.sim.world.censored_times import Spells
    from malsim.sim.world.correction import Attack

AGES = {"1d": 1.0, "7d": 7.0, "30d": 30.0, "later": np.inf}
BELIEVED = 0.5
# maximum size in bytes of the table of claims per writer; the echo share is not computed for larger runs
MOST_VOICES = 100_000_000


class ChangeScores:
    """Per-replication counts, summed over ticks, and the lengths of spells in which answers were wrong.

    `invalidation_latency` is the time from a change of truth to the next right answer, censored by the next change and by
    the end of the run. `time_to_correction` is the time from the first wrong answer to a right one. `lineage` is the number
    of each writer's lineage.
    """

    def __init__(self, facts: int, replications: int, values: int, writers: int, lineage: Ints | None = None) -> None:
        shape = (facts, replications)
        self.truth, self.before = np.full((2, *shape), NONE)
        self.since, self.wrong_since = np.full((2, *shape), np.nan)
        self.waits, self.returns = np.zeros((2, *shape), dtype=bool)
        self._past = np.zeros((values, *shape), dtype=bool)
        groups = {"voices": np.arange(writers)} | ({} if lineage is None else {"lineages": lineage})
        fits = values * facts * replications * writers <= MOST_VOICES
        self._voices = {name: _Voices((values, *shape), group) for name, group in groups.items() if fits}
        self.counts = {name: np.zeros(replications) for name in COUNTS}
        self.spells: dict[str, Spells] = {"invalidation_latency": [], "time_to_correction": []}
        self.believes = False

    def add_voices(self, value: Ints, fact: Ints, rep: Ints, writer: Ints) -> None:
        for voices in self._voices.values():
            voices.add(value, fact, rep, writer)

    def add(self, t: float, truth: Ints, right: Array, best: Array, *, believes: bool) -> None:
        """Update the scores with the state after a tick at `t` days.

        `truth` and `right` have the shape (facts, replications). `best` is the highest score of any active claim of
        each value.
        """
        most = best.max(axis=0)
        silent = np.isnan(right)
        is_right = right == 1.0
        self._changes(t, truth)
        self._spells(t, is_right, ~silent & ~is_right)
        self._count("asked", np.ones_like(silent))
        stale = ~silent & ~is_right & (self.before != NONE) & (_at(best, self.before) == most)
        age = t - self.since
        low = 0.0
        for name, high in AGES.items():
            in_range = (age >= low) & (age < high)
            self._count(f"aged_{name}", in_range & ~silent)
            self._count(f"stale_{name}", in_range & stale)
            low = high
        leads = best == most
        self._count("answered", ~silent)
        for name, voices in self._voices.items():
            leading = np.where(leads, voices.count, 0).max(axis=0)
            self._count(f"echoed_{name}", ~silent & (leading < voices.count.max(axis=0)))
            self._count(f"{name}_heard", np.where(silent, 0, leading))
        number = (best > BELIEVED).sum(axis=0) if believes else (~silent).astype(np.int64)
        self.believes |= believes
        self._count("contested", number > 1)
        self._count("undecided", number == 0)
        self._count("decided_right", (number > 0) & is_right)
        self._count("decided_wrong", (number > 0) & ~silent & ~is_right)

    def close(self, t: float) -> None:
        add_spells(self.spells["invalidation_latency"], self.waits, t - self.since, ended=False)
        add_spells(self.spells["time_to_correction"], ~np.isnan(self.wrong_since), t - self.wrong_since, ended=False)
        self.waits[:], self.wrong_since[:] = False, np.nan

    def _changes(self, t: float, truth: Ints) -> None:
        changed = (truth != self.truth) & (self.truth != NONE)
        if changed.any():
            add_spells(self.spells["invalidation_latency"], changed & self.waits, t - self.since, ended=False)
            self.before[changed], self.since[changed] = self.truth[changed], t
            self.returns[changed] = _at(self._past, truth)[changed]
            self.waits |= changed
            self._count("returns", changed & self.returns)
        np.put_along_axis(self._past, truth[None], values=True, axis=0)
        self.truth = truth.copy()

    def _spells(self, t: float, right: Bools, wrong: Bools) -> None:
        done = self.waits & right
        add_spells(self.spells["invalidation_latency"], done, t - self.since, ended=True)
        self._count("returned", done & self.returns)
        self.waits &= ~right
        corrected = right & ~np.isnan(self.wrong_since)
        add_spells(self.spells["time_to_correction"], corrected, t - self.wrong_since, ended=True)
        self.wrong_since[corrected] = np.nan
        self.wrong_since[wrong & np.isnan(self.wrong_since)] = t

    def _count(self, name: str, part: Bools | Ints) -> None:
        self.counts[name] += part.sum(axis=0)

    def figures(self) -> dict[str, Array]:
        count, size = self.counts, self.truth.shape[1]
        figures = {
            **{name: own_means(spells, size) for name, spells in self.spells.items()},
            "returned": ratio(count["returned"], count["returns"]),
        }
        if "voices" in self._voices:
            figures["echo_share"] = ratio(count["echoed_voices"], count["answered"])
        if "lineages" in self._voices:
            figures["echo_share_by_lineage"] = ratio(count["echoed_lineages"], count["answered"])
            figures |= {f"{name}_per_answer": ratio(count[f"{name}_heard"], count["answered"]) for name in self._voices}
        figures |= {f"stale_share_{age}": ratio(count[f"stale_{age}"], count[f"aged_{age}"]) for age in AGES}
        if self.believes:
            figures |= {name: ratio(count[name], count["asked"]) for name in ("contested", "undecided")}
            figures["decision_score"] = ratio(count["decided_right"] - count["decided_wrong"], count["asked"])
        return figures


class _Voices:
    """Writers, or groups of writers, that have claimed each value. `count` is their number per value."""

    def __init__(self, shape: tuple[int, ...], group: Ints) -> None:
        self._group = np.unique(group, return_inverse=True)[1]
        self._claims = np.zeros((*shape, int(self._group.max(initial=-1)) + 1), dtype=bool)
        self.count = np.zeros(shape, dtype=np.int64)

    def add(self, value: Ints, fact: Ints, rep: Ints, writer: Ints) -> None:
        self._claims[value, fact, rep, self._group[writer]] = True
        cells = np.unique(np.ravel_multi_index((value, fact, rep), self.count.shape))
        self.count.reshape(-1)[cells] = self._claims.reshape(-1, self._claims.shape[-1])[cells].sum(axis=1)


COUNTS = (
    "asked", "answered", "returns", "returned", "contested", "undecided", "decided_right", "decided_wrong",
    "echoed_voices", "voices_heard", "echoed_lineages", "lineages_heard",
    *(f"{what}_{age}" for what in ("aged", "stale") for age in AGES),
)  # fmt: skip


def _at(table: Array | Bools, value: Ints) -> Array:
    return np.asarray(np.take_along_axis(table, value[None], axis=0)[0])


class AttackScores:
    """Per-replication counts over the ticks of an attack, and the times from the end of the attack to a true answer.

    A false answer counts as marked if its cell has a mark (^) or, in a memory without marks, if an active item states a
    different value. `facts` are the names of all facts, in order.
    """

    def __init__(self, attack: Attack, facts: Sequence[str], replications: int) -> None:
        self._attacked = np.array([not attack.facts or name in attack.facts for name in facts])
        self._start, self._end = attack.start / DAY, np.inf if attack.end is None else attack.end / DAY
        self._lies, self._questions, self._marked, self._losses, self._others = np.zeros((5, replications))
        self._waits: Bools | None = None
        self.spells: dict[str, Spells] = {"recovery": []}

    def add(self, t: float, right: Array, best: Array, snapshot: Snapshot) -> None:
        """Update the scores with the state after a tick at `t` days.

        `right` has the shape (facts, replications). `best` is the highest score of any active claim of each value.
        """
        true = right == 1.0
        during = self._start <= t < self._end
        others = true[~self._attacked] if during or t >= self._end else true
        self._others += len(others)
        self._losses += (~others).sum(axis=0)
        if during:
            lies = self._attacked[:, None] & ~np.isnan(right) & ~true
            self._questions += self._attacked.sum()
            self._lies += lies.sum(axis=0)
            self._marked += _marked(t, lies, best, snapshot).sum(axis=0)
        elif t >= self._end:
            waits = np.broadcast_to(self._attacked[:, None], true.shape) if self._waits is None else self._waits
            add_spells(self.spells["recovery"], waits & true, t - self._end, ended=True)
            self._waits = waits & ~true

    def close(self, t: float) -> None:
        if self._waits is not None:
            add_spells(self.spells["recovery"], self._waits, t - self._end, ended=False)
            self._waits = None

    def figures(self) -> dict[str, Array]:
        return {
            "attack_success": ratio(self._lies, self._questions),
            "attack_marked": ratio(self._marked, self._lies),
            "honest_lost": ratio(self._losses, self._others),
            "recovery": own_means(self.spells["recovery"], len(self._lies)),
        }


def _marked(t: float, lies: Bools, best: Array, snapshot: Snapshot) -> Bools:
    if not lies.any():
        return lies
    rows = snapshot.speaking
    fact, rep = snapshot.cell_index.fact[rows], snapshot.cell_index.rep[rows]
    leads = lies[fact, rep] & (snapshot.worth[rows] == best.max(axis=0)[fact, rep])
    rows, fact, rep = rows[leads], fact[leads], rep[leads]
    marked = snapshot.view.marked(rows, t)
    marks = np.zeros(lies.shape, dtype=bool)
    if marked is None:
        marks |= (best > -np.inf).sum(axis=0) > 1
    else:
        marks[fact[marked], rep[marked]] = True
    return lies & marks
