"""Who writes when: every member of every population, in every replication, in one table."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from malsim.sim.clock import DAY
from malsim.sim.draws import Draws

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from malsim.sim.crowd import Crowd
    from malsim.sim.occasion import Array, Ints
    from malsim.sim.stage import Stage

__all__ = ["NEVER", "Roster", "Wake", "waited"]

NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Wake:
    """Claims that fall due, population by population.

    `crowd` is the place of the population, `place` the writer's in the roster, `rep` the replication's among the run's and
    `number` its own; `member` is the writer among the population's, `turn` its count of claims before, `t` milliseconds.
    `drawn` gives numbers from 0 on and below 1 at each claim's address, by purpose.
    """

    crowd: Ints
    place: Ints
    rep: Ints
    number: Ints
    member: Ints
    turn: Ints
    t: Ints
    fact: Ints
    drawn: Callable[[str | tuple[str, ...]], Array] = field(kw_only=True)

    def __len__(self) -> int:
        return len(self.place)

    def rows(self, here: slice) -> Wake:
        """Some of the claims."""
        columns = (getattr(self, name)[here] for name in _COLUMNS)
        return Wake(*columns, drawn=lambda purpose: self.drawn(purpose)[..., here])

    def spans(self) -> list[tuple[int, slice]]:
        """Each population that has claims, with where they stand."""
        return _spans(self.crowd)


class Roster:
    """When each writes next; writers stand by population, within it by replication, within that by member.

    `sizes` are the populations' members, `starts` the places of their first.
    """

    def __init__(self, crowds: Sequence[Crowd], stage: Stage) -> None:
        self._crowds, self._reps, self._seed = crowds, stage.reps, stage.seed
        populations = [crowd.population for crowd in crowds]
        self._names = tuple(population.name for population in populations)
        self.sizes = np.array([crowd.size for crowd in crowds], dtype=np.int64)
        self.starts = np.cumsum([0, *(self.sizes * len(stage.reps))])
        self._laws = {one for one, crowd in enumerate(crowds) if not crowd.is_plain}  # those with a law of their own
        self._rate = np.array([crowd.population.rate if crowd.is_plain else 1.0 for crowd in crowds])
        self._last = np.array([crowd.last for crowd in crowds], dtype=np.int64)
        self._turn = np.zeros(self.starts[-1], dtype=np.int64)
        crowd, rep, member = self._who(np.arange(self.starts[-1]))
        before = np.array([population.start - (population.every or 0) for population in populations], dtype=np.int64)
        self._due = self._next(crowd, rep, member, self._turn, before[crowd])

    def wake(self, before: int) -> Wake:
        """Take the claims that fall due before a time, and set when each writes next."""
        rounds = []
        place = np.flatnonzero(self._due < before)
        while len(place):
            who, turn, t = self._who(place), self._turn[place], self._due[place]
            rounds.append((*who, place, turn, t))
            self._turn[place] = turn + 1
            self._due[place] = due = self._next(*who, turn + 1, t)
            place = place[due < before]
        if not rounds:
            return _NOBODY
        crowd, rep, member, place, turn, t = rounds[0] if len(rounds) == 1 else _by_crowd(rounds)
        number = self._reps[rep]
        drawn = cache(partial(Draws(self._seed, self._names, crowd).uniform, rep=number, member=member, turn=turn))
        fact = self._facts(crowd, member, turn, drawn("fact"))
        return Wake(crowd, place, rep, number, member, turn, t, fact, drawn=drawn)

    def _who(self, place: Ints) -> tuple[Ints, Ints, Ints]:
        """Population, replication and member at each place."""
        crowd = self.starts.searchsorted(place, side="right") - 1
        return crowd, *np.divmod(place - self.starts[crowd], self.sizes[crowd])

    def _facts(self, crowd: Ints, member: Ints, turn: Ints, drawn: Array) -> Ints:
        """What each claim is about."""
        fact = np.empty(len(crowd), dtype=np.int64)
        for one, here in _spans(crowd):
            fact[here] = self._crowds[one].chosen(drawn[here], member[here], turn[here])
        return fact

    def _next(self, crowd: Ints, rep: Ints, member: Ints, turn: Ints, since: Ints) -> Ints:
        """When each member writes claim `turn`, counted from the one before; NEVER past its population's last day."""
        number = self._reps[rep]
        drawn = Draws(self._seed, self._names, crowd).exponential("gap", rep=number, member=member, turn=turn)
        due = since + waited(drawn / self._rate[crowd])
        if self._laws:
            for one, here in _spans(crowd):
                if one in self._laws:
                    due[here] = self._crowds[one].next(number[here], member[here], turn[here], since[here])
        return np.where(due < self._last[crowd], due, NEVER)


def waited(gap: Array) -> Ints:
    """Whole milliseconds of a number of days, one at least."""
    return np.maximum(1, np.rint(gap * DAY)).astype(np.int64)


def _spans(crowd: Ints) -> list[tuple[int, slice]]:
    edges = crowd.searchsorted(np.arange(crowd[-1] + 2)).tolist() if len(crowd) else []
    return [(one, slice(start, end)) for one, (start, end) in enumerate(pairwise(edges)) if start < end]


def _by_crowd(rounds: Sequence[tuple[Ints, ...]]) -> list[Ints]:
    """Columns of several rounds, population first, as one round after the other within each."""
    columns = [np.concatenate(parts) for parts in zip(*rounds, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    return [column[order] for column in columns]


_COLUMNS = tuple(part.name for part in fields(Wake) if part.name != "drawn")
_NOBODY = Wake(*(np.zeros(0, dtype=np.int64) for _ in _COLUMNS), drawn=lambda _: np.zeros(0))
