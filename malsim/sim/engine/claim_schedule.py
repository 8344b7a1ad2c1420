"""Schedule of every writer's next claim, in all replications."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from malsim.sim.engine.population_process import NEVER, DueClaims, whole_gap
from malsim.sim.world.draws import Draws, exponential

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.memory.graph.arrays import Array, Ints
    from malsim.sim.context.event_log import RunContext
    from malsim.sim.engine.population_process import PopulationProcess, Spans


class ClaimSchedule:
    """Schedule of each writer's next claim. Writers are ordered by population, then replication, then member.

    `sizes` is the number of members of each population, and `starts` the index of its first writer.
    """

    def __init__(self, processes: Sequence[PopulationProcess], context: RunContext) -> None:
        self._processes, self._world = processes, context.world
        populations = [process.population for process in processes]
        self.sizes = np.array([process.size for process in processes], dtype=np.int64)
        self.starts = np.cumsum([0, *(self.sizes * len(context.reps))])
        # indexes of populations with their own distribution of gaps between claims
        self._special = {index for index, process in enumerate(processes) if not process.is_plain}
        indices = np.arange(self.starts[-1])
        population = self.starts.searchsorted(indices, side="right") - 1
        rep, member = np.divmod(indices - self.starts[population], self.sizes[population])
        number = context.reps[rep]
        self._who = np.stack(
            [population, rep, number, member],
            axis=1,
            # one row per writer: population, replication index, replication number, member
        )
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
            none = np.zeros(0, dtype=np.int64)
            return DueClaims(*[none] * 8, draws=self._draws, spans=[])
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
        """Return when each writer makes claim number `turn`, or NEVER after the end of its population."""
        due = since + whole_gap(exponential(self._uniform("gap", writer, turn)) / self._rate[writer])
        if self._special:
            population, _, number, member = self._who[writer].T
            for index, rows in _spans(population):
                if index in self._special:
                    due[rows] = self._processes[index].next(number[rows], member[rows], turn[rows], since[rows])
        return np.where(due < self._last[writer], due, NEVER)


def _spans(population: Ints) -> Spans:
    edges = population.searchsorted(np.arange(population[-1] + 2)).tolist() if len(population) else []
    return [(index, slice(start, end)) for index, (start, end) in enumerate(pairwise(edges)) if start < end]
