"""Schedule of the next claim of every member of every population in every replication."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from malsim.sim.world.clock import DAY
from malsim.sim.world.draws import Draws, exponential

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.memory.graph.arrays import Array, Ints
    from malsim.sim.context.event_log import RunContext
    from malsim.sim.engine.population_process import PopulationProcess

Spans: TypeAlias = list[tuple[int, slice]]
NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class DueClaims:
    """Claims that are due, grouped by population.

    `population` and `place` are the indexes of the population and the writer. `rep` is the index of the replication in
    the run, `number` its number. `member` is the index of the writer in its population, `turn` the number of its earlier
    claims, and `t` the time in ms. `draws` holds the random draws of all populations. `spans` lists each population that
    has claims, with the slice of its claims.
    """

    population: Ints
    place: Ints
    rep: Ints
    number: Ints
    member: Ints
    turn: Ints
    t: Ints
    fact: Ints
    draws: Draws = field(kw_only=True)
    spans: Spans = field(kw_only=True)

    def __len__(self) -> int:
        return len(self.place)

    def uniform(self, purpose: str) -> Array:
        draws = replace(self.draws, of=self.population)
        return draws.uniform(purpose, rep=self.number, member=self.member, turn=self.turn)

    def rows(self, population: int, rows: slice | Ints) -> DueClaims:
        """Return the claims at the given rows, which belong to one population."""
        columns = [getattr(self, name)[rows] for name in _COLUMNS]
        return DueClaims(*columns, draws=self.draws, spans=[(population, slice(0, len(columns[0])))])


class ClaimSchedule:
    """Time of each writer's next claim. Writers are ordered by population, then replication, then member.

    `sizes` are the numbers of members of the populations, and `starts` the indexes of their first writers.
    """

    def __init__(self, processes: Sequence[PopulationProcess], context: RunContext) -> None:
        self._processes, self._world = processes, context.world
        populations = [process.population for process in processes]
        self.sizes = np.array([process.size for process in processes], dtype=np.int64)
        self.starts = np.cumsum([0, *(self.sizes * len(context.reps))])
        self._special = {index for index, process in enumerate(processes) if not process.is_plain}  # own law of gaps
        indices = np.arange(self.starts[-1])
        population = self.starts.searchsorted(indices, side="right") - 1
        rep, member = np.divmod(indices - self.starts[population], self.sizes[population])
        number = context.reps[rep]
        self._who = np.stack([population, rep, number, member], axis=1)  # one row a writer, looked up together
        self._draws = Draws(context.seed, tuple(population.name for population in populations))
        self._rate = np.array([process.population.rate if process.is_plain else 1.0 for process in processes])[population]
        self._last = np.array([process.last for process in processes], dtype=np.int64)[population]
        self._turn = np.zeros(len(indices), dtype=np.int64)
        before = np.array([population.start - (population.every or 0) for population in populations], dtype=np.int64)
        self._due = self._next(indices, self._turn, before[population])

    def take_due(self, before: int) -> DueClaims:
        rounds: list[tuple[Ints, Ints, Ints]] = []
        index = np.flatnonzero(self._due < before)
        while len(index):
            turn, t = self._turn[index], self._due[index]
            rounds.append((index, turn, t))
            self._turn[index] = turn + 1
            self._due[index] = due = self._next(index, turn + 1, t)
            index = index[due < before]
        if not rounds:
            return _NOBODY
        index, turn, t = rounds[0] if len(rounds) == 1 else (np.concatenate(parts) for parts in zip(*rounds, strict=True))
        if len(rounds) > 1:
            order = np.argsort(self._who[index, 0], kind="stable")
            index, turn, t = index[order], turn[order], t[order]
        population, rep, number, member = self._who[index].T
        spans = _spans(population)
        uniform, fact = self._uniform("fact", index, turn), np.empty(len(turn), dtype=np.int64)
        for process, rows in spans:
            fact[rows] = self._processes[process].facts(uniform[rows], member[rows], turn[rows])
        return DueClaims(population, index, rep, number, member, turn, t, fact, draws=self._draws, spans=spans)

    def _uniform(self, purpose: str, writer: Ints, turn: Ints) -> Array:
        population, _, number, member = self._who[writer].T
        return replace(self._draws, of=population).uniform(purpose, rep=number, member=member, turn=turn)

    def _next(self, writer: Ints, turn: Ints, since: Ints) -> Ints:
        """Return the time of each writer's claim `turn`, given the previous one; NEVER after its population's last day."""
        due = since + whole_gap(exponential(self._uniform("gap", writer, turn)) / self._rate[writer])
        if self._special:
            population, _, number, member = self._who[writer].T
            for index, rows in _spans(population):
                if index in self._special:
                    due[rows] = self._processes[index].next(number[rows], member[rows], turn[rows], since[rows])
        return np.where(due < self._last[writer], due, NEVER)


def whole_gap(gap: Array) -> Ints:
    return np.maximum(1, np.rint(gap * DAY)).astype(np.int64)


def _spans(population: Ints) -> Spans:
    edges = population.searchsorted(np.arange(population[-1] + 2)).tolist() if len(population) else []
    return [(index, slice(start, end)) for index, (start, end) in enumerate(pairwise(edges)) if start < end]


_COLUMNS = tuple(part.name for part in fields(DueClaims) if part.type == "Ints")
_NONE = np.zeros(0, dtype=np.int64)
_NOBODY = DueClaims(*[_NONE] * len(_COLUMNS), draws=Draws(0, ("",)), spans=[])
