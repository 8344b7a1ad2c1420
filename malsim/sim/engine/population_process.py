"""Process that generates one population's claims in all replications, and the faulty delivery of these claims."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from malsim.base.errors import ScenarioError, nearest
from malsim.memory.graph.frames import rank_within_group
from malsim.sim.settings.population import SHARES
from malsim.sim.world import SENSES
from malsim.sim.world.clock import DAY, milliseconds
from malsim.sim.world.draws import Draws, name_number
from malsim.sim.writers.engine.claim_context import LEAST_STATED, ClaimContext, ClaimDraft

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.sim.context.event_log import RunContext
    from malsim.sim.settings.population import ClaimFault, Population
    from malsim.sim.world import World
    from malsim.sim.writers.engine.claim_batch import ClaimBatch
    from malsim.sim.writers.engine.claim_context import LatestClaims, Script, ShownRows

Spans: TypeAlias = list[tuple[int, slice]]
NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class DueClaims:
    """Claims that are due now, grouped by population.

    `population` and `writer` are the indexes of the population and the writer. `rep` is the replication's index in the run,
    and `number` its number. `member` is the writer's index in its population, `turn` the number of the writer's earlier
    claims, and `t` the time in ms. `draws` has the random draws of all populations. `spans` lists each population that has
    claims and the slice of its claims.
    """

    population: Ints
    writer: Ints
    rep: Ints
    number: Ints
    member: Ints
    turn: Ints
    t: Ints
    fact: Ints
    draws: Draws = field(kw_only=True)
    spans: Spans = field(kw_only=True)

    def __len__(self) -> int:
        return len(self.writer)

    def uniform(self, purpose: str) -> Array:
        draws = replace(self.draws, of=self.population)
        return draws.uniform(purpose, rep=self.number, member=self.member, turn=self.turn)

    def rows(self, population: int, rows: slice | Ints) -> DueClaims:
        columns = [getattr(self, name)[rows] for name in _COLUMNS]
        return DueClaims(*columns, draws=self.draws, spans=[(population, slice(0, len(columns[0])))])


_COLUMNS = tuple(part.name for part in fields(DueClaims) if part.type == "Ints")


def whole_gap(gap: Array) -> Ints:
    return np.maximum(1, np.rint(gap * DAY)).astype(np.int64)


class PopulationProcess:
    """Process that decides the times, facts and values of the claims made by one population's members."""

    def __init__(self, population: Population, context: RunContext, script: Script | None = None) -> None:
        self.population, self.script = population, script
        world = self._world = context.world
        self.draws = Draws(context.seed, population.name)
        self._lineage = Draws(context.seed, f"lineage of {population.lineage}") if population.alike else None
        self._fact_numbers = np.array([name_number(fact.name) for fact in world.facts], dtype=np.uint64).astype(np.int64)
        self._module = population.kind_of.module
        self._gap: Callable[..., Array] | None = getattr(self._module, "gap", None)
        self._settings = {
            name: _parameters_of(getattr(self._module, name, None), population.settings) for name in ("gap", "write")
        }
        self.size = len(script.names) if script else population.count
        self._facts = _facts_of(population, world)
        weight = np.array([world.facts[fact].popularity for fact in self._facts])
        self._upto = (np.cumsum(weight) / weight.sum())[:-1]
        self.last = NEVER if population.end is None else population.end
        start = getattr(self._module, "state", {})
        self._state = {name: np.full((len(context.reps), self.size), float(value)) for name, value in start.items()}

    @property
    def names(self) -> tuple[str, ...]:
        return self.script.names if self.script else tuple(f"{self.population.name}-{n + 1}" for n in range(self.size))

    @property
    def is_plain(self) -> bool:
        return not (self.script or self._gap or self.population.every) and self.population.rate > 0.0

    def next(self, number: Ints, member: Ints, turn: Ints, since: Ints) -> Ints:
        """Return when each member makes claim number `turn`, given the time `since` of its previous claim, both in ms."""
        population = self.population
        if self.script:
            times = np.append(self.script.t, NEVER)[self.script.index(member, turn)]
            return np.where(times < self.last, times + population.start, NEVER)
        if population.every is not None:
            return since + population.every
        if self._gap is None or population.rate == 0.0:
            return np.full(len(number), NEVER)
        settings = {"rate": population.rate, **self._settings["gap"]}
        return since + whole_gap(self._gap(self.draws, rep=number, member=member, turn=turn, **settings))

    def facts(self, uniform: Array, member: Ints, turn: Ints) -> Ints:
        if self.script:
            return self.script.fact[self.script.index(member, turn)]
        return np.asarray(self._facts[self._upto.searchsorted(uniform, side="right")])

    def write(self, due: DueClaims, push: ShownRows, latest_claims: LatestClaims, bad: Bools | None = None) -> ClaimDraft:
        """Return the members' drafts. Where `bad` is True, a draft's value is replaced by a different one."""
        context = self._context(due, push, latest_claims)
        if self.script:
            index = self.script.index(due.member, due.turn)
            draft = ClaimDraft(self.script.value[index], self.script.stated[index])
        # members write one claim at a time, because each claim reads the state left by the previous one
        elif self._state:
            nth = rank_within_group(due.rep * self.size + due.member)
            rounds = [np.flatnonzero(nth == n) for n in range(int(nth.max(initial=-1)) + 1)]
            drafts = ClaimDraft.joined([self._write_round(due, push, latest_claims, rows) for rows in rounds])
            draft = drafts.rows(np.argsort(np.concatenate(rounds), kind="stable"))
        else:
            draft = self._module.write(context, **self._settings["write"])
        if bad is not None and bad.any():
            draft = replace(draft, value=np.where(bad, context.another(draft.value, "bad"), draft.value))
        return draft

    def _write_round(self, due: DueClaims, push: ShownRows, latest_claims: LatestClaims, rows: Ints) -> ClaimDraft:
        part = due.rows(int(due.population[0]), rows)
        latest = latest_claims.rows(rows, lambda name: latest_claims.more(name)[rows])
        state = {name: values[part.rep, part.member] for name, values in self._state.items()}
        context = replace(self._context(part, push.rows(rows), latest), state=state)
        draft: ClaimDraft = self._module.write(context, **self._settings["write"])
        for name, values in draft.state.items():
            if name not in self._state:
                where = f"writers[{self.population.name}].state"
                raise ScenarioError("no such state variable", where=where, given=name, allowed=", ".join(self._state))
            self._state[name][part.rep, part.member] = values
        return draft

    def _context(self, due: DueClaims, push: ShownRows, latest_claims: LatestClaims) -> ClaimContext:
        draws = self.draws

        def sense(accuracy: float, *, lag: float = 0.0, member: Ints | None = None, turn: Ints | None = None) -> Ints:
            alone = member is None and turn is None
            by, nth = due.member if member is None else member, due.turn if turn is None else turn
            uniforms = draws.uniform(SENSES, rep=due.number, member=by, turn=nth)
            if alone and self._lineage:
                alike = draws.happens(self.population.alike, "alike", rep=due.number, member=by, turn=nth)
                shared = self._lineage.uniform(SENSES, rep=due.number, member=self._fact_numbers[due.fact])
                uniforms = np.where(alike, shared, uniforms)
            t = np.maximum(due.t - milliseconds(lag), 0)
            return self._world.observe(uniforms, accuracy, rep=due.rep, fact=due.fact, t=t)

        return ClaimContext(
            rep=due.number, member=due.member, turn=due.turn, fact=due.fact, choices=self._world.choices[due.fact],
            draws=draws, sense=sense, push=push, latest=latest_claims,
        )  # fmt: skip


def _facts_of(population: Population, world: World) -> Ints:
    names = [fact.name for fact in world.facts]
    for name in population.facts:
        if name not in names:
            hint = nearest(name, names, "add it under [[facts]]")
            raise ScenarioError("no such fact", where=f"writers[{population.name}].facts", given=name, hint=hint)
    facts = [names.index(name) for name in population.facts or names]
    if population.scope:
        facts = [fact for fact in facts if world.facts[fact].scope in ("", population.scope)]
        if not facts:
            where, allowed = f"writers[{population.name}].scope", ", ".join({fact.scope for fact in world.facts} - {""})
            problem = "none of the population's facts is in its scope"
            raise ScenarioError(problem, where=where, given=population.scope, allowed=allowed)
    return np.array(facts, dtype=np.int64)


def _parameters_of(function: Callable[..., object] | None, settings: Mapping[str, float | str]) -> dict[str, float | str]:
    names = inspect.signature(function).parameters if function else {}
    return {name: value for name, value in settings.items() if name in names}


_KINDS = {"flip": "flipped", "perturb": "perturbed", "double": "doubled", "delay": "delayed", "reorder": "reordered"}


@dataclass(frozen=True)
class DeliveryLine:
    """Delivery of one population's claims to the gate, with faults. `first_writer` is the index of the first member."""

    population: str
    faults: tuple[ClaimFault, ...]
    context: RunContext
    draws: Draws
    first_writer: int

    @classmethod
    def of(cls, faults: Sequence[ClaimFault], population: str, context: RunContext, first_writer: int) -> DeliveryLine:
        faults = tuple(fault for fault in faults if fault.population == population)
        return cls(population, faults, context, Draws(context.seed, f"faults of {population}"), first_writer)

    def bad(self, due: DueClaims) -> Bools | None:
        """Return a mask of the claims that a fault makes wrong at the source, or None if there is no such fault."""
        hit = None
        for number, fault in enumerate(self.faults):
            if fault.bad["wrong"]:
                misled = self._misled(fault, number, due.rep, due.member, due.turn, due.t)
                hit = misled if hit is None else hit | misled
        return hit

    def _misled(self, fault: ClaimFault, number: int, rep: Ints, member: Ints, turn: Ints, t: Ints) -> Bools:
        uniform = self.draws.uniform(f"bad {number}", rep=self.context.reps[rep], member=member, turn=turn)
        return fault.during(t) & (uniform < fault.bad["wrong"])

    def carry(self, drafts: ClaimBatch, start: int, end: int) -> ClaimBatch:
        """Return one turn's claims (from `start` to `end`, in ms) as they reach the gate, and record faults as events."""
        for number, fault in enumerate(self.faults):
            if fault.bad["wrong"] and len(drafts):
                member = drafts.who - self.first_writer
                self._log("misled", drafts, self._misled(fault, number, drafts.rep, member, drafts.turn, drafts.t))
        for number, fault in enumerate(self.faults):
            if any(fault.noise[name] for name in SHARES) and len(drafts):
                drafts = self._with_noise(fault, number, drafts, start, end)
        return drafts

    def _log(self, kind: str, drafts: ClaimBatch, hit: Bools) -> None:
        detail, table = ("another value at the source", "bad") if kind == "misled" else ("on its way to the gate", "noise")
        self.context.log.faulty(kind, drafts, hit, detail=detail, cause=f"{table} on {self.population}")

    def _with_noise(self, fault: ClaimFault, number: int, drafts: ClaimBatch, start: int, end: int) -> ClaimBatch:
        noise, during = fault.noise, fault.during(drafts.t)
        rep, member = self.context.reps[drafts.rep], drafts.who - self.first_writer
        address: dict[str, Ints | int] = {"rep": rep, "member": member, "turn": drafts.turn}

        def uniform(purpose: str) -> Array:
            return self.draws.uniform(f"{purpose} {number}", **address)

        drops: Bools = during & (uniform("drop") < noise["drop"])
        self._log("lost", drafts, drops)

        def hit(name: str) -> Bools:
            mask: Bools = during & ~drops & (uniform(name) < noise[name])
            self._log(_KINDS[name], drafts, mask)
            return mask

        choices = self.context.world.choices[drafts.fact]
        another = (drafts.value + 1 + (uniform("another") * (choices - 1)).astype(np.int64)) % choices
        moved = drafts.stated + noise["spread"] * self.draws.normal(f"size {number}", **address)
        wait = np.maximum(1, np.rint(-np.log1p(-uniform("wait")) * noise["late"] * DAY)).astype(np.int64)
        anywhere = start + (uniform("place") * (end - start)).astype(np.int64)
        t = np.where(hit("reorder"), anywhere, drafts.t)
        changed = replace(
            drafts,
            value=np.where(hit("flip"), another, drafts.value),
            stated=np.where(hit("perturb"), np.clip(moved, LEAST_STATED, 1.0), drafts.stated),
            t=np.where(hit("delay"), t + wait, t),
        )
        times = np.where(drops, 0, np.where(hit("double"), 2, 1))
        return changed.rows(np.repeat(np.arange(len(drafts)), times))
