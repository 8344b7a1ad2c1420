"""One population of a run, in every replication at once: when its members write, what they know, what they say."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from malsim.errors import ScenarioError
from malsim.sim.clock import DAY, milliseconds
from malsim.sim.drafts import Drafts
from malsim.sim.draws import Draws
from malsim.sim.habits import habitual
from malsim.sim.known import Known
from malsim.sim.occasion import Occasion, Said

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from malsim.sim.occasion import Array, Bools, Ints, Seen
    from malsim.sim.populations import Population
    from malsim.sim.scripted import Script
    from malsim.sim.stage import Stage
    from malsim.sim.world import World

__all__ = ["Crowd", "Wake"]

NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Wake:
    """Claims that fall due: replication (place), member, the member's count, time in milliseconds, fact."""

    rep: Ints
    member: Ints
    turn: Ints
    t: Ints
    fact: Ints


class Crowd:
    """The state of a population: when each member of each replication writes next, and what verdicts told it."""

    def __init__(
        self, population: Population, stage: Stage, *, first_writer: int, first_form: int, script: Script | None = None
    ) -> None:
        self.population, self.script = population, script
        world = self._world = stage.world
        self._reps = stage.reps
        self._draws = Draws(stage.seed, population.name)
        self._module = population.kind_of.module
        self.first_writer, self.form = first_writer, first_form
        self.size = len(script.names) if script else population.count
        self._facts = _facts_of(population, world)
        weight = np.array([world.facts[fact].popularity for fact in self._facts])
        self._upto = np.cumsum(weight) / weight.sum()
        shape = (len(self._reps), self.size)
        self._turn = np.zeros(shape, dtype=np.int64)
        self.known = Known(*shape, len(world.facts))
        rep, member = (part.ravel() for part in np.indices(shape))
        start = np.full(len(rep), population.start)
        self._due = self._next(rep, member, start, start=True).reshape(shape)

    @property
    def names(self) -> tuple[str, ...]:
        """Its members' names."""
        return self.script.names if self.script else tuple(f"{self.population.name}-{n + 1}" for n in range(self.size))

    def wake(self, before: int) -> Wake:
        """Take the claims that fall due before a time, and set when each member writes next."""
        taken = []
        rep, member = np.nonzero(self._due < before)
        while len(rep):
            turn, t = self._turn[rep, member], self._due[rep, member]
            taken.append(Wake(rep, member, turn, t, self._chosen(rep, member, turn)))
            self._turn[rep, member] = turn + 1
            due = self._due[rep, member] = self._next(rep, member, t)
            again = due < before
            rep, member = rep[again], member[again]
        if len(taken) <= 1:
            return taken[0] if taken else _NOBODY
        columns = ("rep", "member", "turn", "t", "fact")
        return Wake(*(np.concatenate([getattr(part, name) for part in taken]) for name in columns))

    def speak(self, wake: Wake, seen: Seen, bad: Bools | None = None) -> Drafts:
        """What the members say; where `bad`, a wrong value takes the place of their own before they wire it."""
        occasion = self._occasion(wake, seen)
        if self.script:
            place = self.script.place(wake.member, wake.turn)
            said = Said(self.script.value[place], self.script.stated[place])
        else:
            said = self._module.write(occasion, **_wanted(self._module.write, self.population.settings))
        if bad is not None and bad.any():
            said = Said(
                np.where(bad, occasion.another(said.value, "bad"), said.value),
                said.stated,
                said.edges,
                said.speaks,
                said.graded,
            )
        graded = np.zeros(len(wake.rep), dtype=bool) if said.graded is None else said.graded
        edges = [*said.edges, *habitual(self.population, occasion, said, ~graded)]
        drafts = Drafts.of(
            edges, rep=wake.rep, t=wake.t, who=self.first_writer + wake.member, turn=wake.turn, fact=wake.fact,
            value=said.value, stated=said.stated, form=np.where(graded, self.form + 1, self.form),
        )  # fmt: skip
        return drafts if said.speaks is None or said.speaks.all() else drafts.rows(np.flatnonzero(said.speaks))

    def _occasion(self, wake: Wake, seen: Seen) -> Occasion:

        def sense(accuracy: float, *, lag: float = 0.0, member: Ints | None = None, turn: Ints | None = None) -> Ints:
            return self._world.sense(
                self._draws, accuracy, rep=wake.rep, number=self._reps[wake.rep], fact=wake.fact,
                member=wake.member if member is None else member, turn=wake.turn if turn is None else turn,
                t=np.maximum(wake.t - milliseconds(lag), 0),
            )  # fmt: skip

        return Occasion(
            rep=self._reps[wake.rep], member=wake.member, turn=wake.turn, fact=wake.fact,
            choices=self._world.choices[wake.fact], draws=self._draws, sense=sense, seen=seen, own=self.known.own(wake),
        )  # fmt: skip

    def _chosen(self, rep: Ints, member: Ints, turn: Ints) -> Ints:
        if self.script:
            return self.script.fact[self.script.place(member, turn)]
        if len(self._facts) == 1:
            return np.full(len(rep), self._facts[0])
        drawn = self._draws.uniform("fact", rep=self._reps[rep], member=member, turn=turn)
        chosen: Ints = self._facts[np.searchsorted(self._upto, drawn, side="right").clip(max=len(self._facts) - 1)]
        return chosen

    def _next(self, rep: Ints, member: Ints, since: Ints, *, start: bool = False) -> Ints:
        """When each member writes next, counted from `since`; NEVER past its last day."""
        population = self.population
        turn = self._turn[rep, member]
        if self.script:
            times = np.append(self.script.t, NEVER)[self.script.place(member, turn)]
            return np.where(times < population.last, times + population.start, NEVER)
        if population.every is not None:
            due = since if start else since + population.every
        elif population.rate == 0.0:
            return np.full(len(rep), NEVER)
        else:
            due = since + np.maximum(1, np.rint(self._gap(rep, member, turn) * DAY)).astype(np.int64)
        return np.where(due < population.last, due, NEVER)

    def _gap(self, rep: Ints, member: Ints, turn: Ints) -> Array:
        gap, rate = getattr(self._module, "gap", None), self.population.rate
        address: dict[str, Ints | int] = {"rep": self._reps[rep], "member": member, "turn": turn}
        if gap is None:
            return self._draws.exponential("gap", **address) / rate
        found: Array = gap(self._draws, **address, rate=rate, **_wanted(gap, self.population.settings))
        return found


_NOBODY = Wake(*(np.zeros(0, dtype=np.int64) for _ in range(5)))


def _facts_of(population: Population, world: World) -> Ints:
    names = [fact.name for fact in world.facts]
    for name in population.facts:
        if name not in names:
            near = get_close_matches(name, names, n=2)
            hint = f"try {' or '.join(near)}" if near else "add it under [[facts]]"
            raise ScenarioError("no such fact", where=f"writers[{population.name}].facts", given=name, hint=hint)
    return np.array([names.index(name) for name in population.facts or names], dtype=np.int64)


@cache
def _arguments(function: Callable[..., object]) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)


def _wanted(function: Callable[..., object], settings: Mapping[str, float | str]) -> dict[str, float | str]:
    """Those of the settings that a function takes."""
    return {name: value for name, value in settings.items() if name in _arguments(function)}
