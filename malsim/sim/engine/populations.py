"""Writers of a run: the populations, the reader and the reviewers, and the delivery of their claims."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from malsim.base.errors import ScenarioError
from malsim.memory.schema import NONE
from malsim.sim.engine.claim_schedule import ClaimSchedule
from malsim.sim.engine.claim_templates import ClaimForm, ClaimTemplates
from malsim.sim.engine.own_claims import OwnClaims
from malsim.sim.engine.population_process import DeliveryLine, PopulationProcess
from malsim.sim.world.clock import days
from malsim.sim.writers.engine.claim_batch import ClaimBatch
from malsim.sim.writers.engine.claim_context import ClaimDraft, DraftEdge, ShownRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.memory.graph.arrays import Ints
    from malsim.sim.context.event_log import RunContext
    from malsim.sim.context.snapshot import Snapshot
    from malsim.sim.engine.population_process import DueClaims
    from malsim.sim.settings.population import Population
    from malsim.sim.settings.scenario import Scenario
    from malsim.sim.world import World
    from malsim.sim.writers.engine.claim_context import LatestClaims, Script

READER = ClaimForm("obs", "tested", "llm")
RESERVED_NAMES = (
    "reader",
    "reviewers",
    "world",
    "bootstrap",
    # random draws are addressed by these names, so no population may use them
)
REVIEWERS = ClaimForm("ver", "external", "human")


class Populations:
    """Populations of a run: their schedule, their claims, and the gate's verdicts on these claims.

    `reader` and `reviewers` are the indexes of these writers in the run; their claim forms come first. `lineages` maps each
    writer that has a lineage to that lineage.
    """

    def __init__(self, scenario: Scenario, context: RunContext) -> None:
        names, forms = ["reader", "reviewers"], [READER, REVIEWERS]
        self.lineages: dict[str, str] = {}
        self.reader, self.reviewers = 0, 1
        self._processes: list[PopulationProcess] = []
        self.lines: list[DeliveryLine] = []
        _check_names(scenario)
        for population in scenario.writers:
            script = _script(population, context.world, scenario.path)
            process = PopulationProcess(population, context, script)
            self.lines.append(DeliveryLine.of(scenario.faults, population.name, context, len(names)))
            self._processes.append(process)
            for name in process.names:
                if name in names:
                    raise ScenarioError("this name is already used", where=f"writers[{population.name}]", given=name)
            names += process.names
            common = (population.verification, population.origin)
            if population.lineage:
                self.lineages |= dict.fromkeys(process.names, population.lineage)
            forms += [ClaimForm(population.kind, *common), ClaimForm("ver", *common, about=False)]
        last = scenario.first + scenario.replications - 1
        self.about = np.array([form.about for form in forms])  # one flag per form: True if its claims are about a fact
        self.templates = ClaimTemplates(
            context.world.facts, names, forms, first=scenario.first, last=last, rules=scenario.rules
        )
        self._log = context.log
        context.log.writers = self.templates.writers.to_list()
        self._schedule = ClaimSchedule(self._processes, context)
        self._edge_policies = EdgePolicies(scenario.writers)
        self._own_claims = OwnClaims(self._schedule.sizes, len(context.reps), len(context.world.facts))
        self._reads = np.array([population.reads for population in scenario.writers], dtype=bool)
        # index of each writer's population, or NONE for the reader and the reviewers
        self._whose = np.repeat(np.arange(-1, len(self._processes)), [2, *self._schedule.sizes])
        self._who = np.searchsorted(self._whose, np.arange(len(self._processes)))  # index of each population's first writer

    def post(self, snapshot: Snapshot, start: int, end: int) -> ClaimBatch:
        """Return the claims that all populations post from `start` to `end` (two scans, in ms), as the gate receives them.

        Populations that read are shown the memory after the last tick, at `start`.
        """
        due = self._schedule.take_due(end)
        return self._delivered(self._write(due, snapshot, start), start, end) if len(due) else ClaimBatch.none()

    def _write(self, due: DueClaims, snapshot: Snapshot, start: int) -> ClaimBatch:
        push, latest_claims = self._push(snapshot, due, days(start)), self._own_claims.own(due, start)
        parts = []
        for index, rows in due.spans:
            part = due.rows(index, rows)
            latest = latest_claims.rows(rows, partial(self._own_claims.more, part))
            parts.append(self._processes[index].write(part, push.rows(rows), latest, self.lines[index].bad(part)))
        draft = ClaimDraft.joined(parts)
        form = _form(due.population)
        drafts = ClaimBatch.of(
            [*draft.edges, *self._edge_policies.edges(due, push, latest_claims, draft)],
            rep=due.rep, t=due.t, who=self._who[due.population] + due.member, turn=due.turn, fact=due.fact,
            value=draft.value, stated=draft.stated, form=form if draft.graded is None else form + draft.graded,
        )  # fmt: skip
        arrives = np.ones(len(drafts), dtype=bool) if draft.speaks is None else draft.speaks
        if draft.stale is not None and draft.stale.any():
            detail, cause = "changed since it was read", "if_seen"
            self._log.faulty("rejected", drafts, draft.stale & arrives, detail=detail, cause=cause)
            arrives = arrives & ~draft.stale
        return drafts if arrives.all() else drafts.rows(np.flatnonzero(arrives))

    def _push(self, snapshot: Snapshot, due: DueClaims, now: float) -> ShownRows:
        asks = self._reads[due.population]
        if not (asks.any() and len(snapshot.view)):
            return ShownRows.nothing(len(due))
        if asks.all():
            return snapshot.rows_about(due.rep, due.fact, now)
        rows = np.flatnonzero(asks)
        return snapshot.rows_about(due.rep[rows], due.fact[rows], now).among(len(due), rows)

    def _delivered(self, drafts: ClaimBatch, start: int, end: int) -> ClaimBatch:
        if not any(line.faults for line in self.lines):
            return drafts
        edges = np.searchsorted(self._whose[drafts.who], np.arange(len(self.lines) + 1))
        parts = [drafts.rows(np.arange(*edges[line : line + 2])) for line in range(len(self.lines))]
        return ClaimBatch.joined([line.carry(part, start, end) for line, part in zip(self.lines, parts, strict=True)])

    def on_verdicts(self, drafts: ClaimBatch, row: Ints) -> None:
        population = self._whose[drafts.who]
        rows = np.flatnonzero((row != NONE) & (population != NONE) & (drafts.form == _form(population)))
        drafts, population, row = drafts.rows(rows), population[rows], row[rows]
        member = drafts.who - self._who[population]
        self._own_claims.on_verdicts(population, drafts.rep, member, drafts.fact, row, drafts.value)

    def ordered(self, drafts: ClaimBatch) -> ClaimBatch:
        return drafts.rows(np.lexsort((drafts.turn, self.templates.rank[drafts.who], drafts.t)))


def _form(population: Ints) -> Ints:
    return 2 + 2 * population


def _check_names(scenario: Scenario) -> None:
    problem, hint = "this name is already used", 'choose another name = "…"'
    names = [population.name for population in scenario.writers]
    for name in names:
        if names.count(name) > 1 or name in RESERVED_NAMES or name.startswith(("faults of ", "lineage of ")):
            raise ScenarioError(problem, where="writers", given=name, hint=hint)
    for process in scenario.processes:
        if process.name in names or process.name in RESERVED_NAMES:
            raise ScenarioError(problem, where="process", given=process.name, hint=hint)
        names.append(process.name)
    for fault in scenario.faults:
        if fault.population not in names:
            where, allowed = "faults.population", ", ".join(names)
            raise ScenarioError("no such population", where=where, given=fault.population, allowed=allowed)


def _script(population: Population, world: World, path: str) -> Script | None:
    make = getattr(population.kind_of.module, "script", None)
    if make is None:
        return None
    script: Script = make(world.facts, **population.settings, folder=str(Path(path).parent))
    return script


class EdgePolicies:
    """Policies by which the members of a population add edges to their claims.

    Members may dispute the best rival shown to them, support the best agreeing row, and supersede their own earlier
    claim.

    Claims that judge their writer's own claims get no such edges. Writers neither dispute nor support their latest claim.
    """

    def __init__(self, populations: Sequence[Population]) -> None:
        # probability that a claim contradicts the best shown claim of another value, per population
        self._disputes = np.array([population.disputes for population in populations])
        self._supports = np.array([population.supports for population in populations])
        self._mutual = np.array([population.mutual for population in populations], dtype=bool)
        self._revises = np.array([population.revises for population in populations], dtype=bool)
        self._some_are_mutual = bool(self._mutual.any())

    def edges(self, due: DueClaims, push: ShownRows, latest: LatestClaims, draft: ClaimDraft) -> list[DraftEdge]:
        edges: list[DraftEdge] = []
        others = (push.value != NONE) & (push.row != latest.row[:, None])
        agrees = push.value == draft.value[:, None]
        plain = True if draft.graded is None else ~draft.graded
        if self._disputes.any():
            rival = push.pick(push.row, push.best(others & ~agrees))
            rival = np.where((due.uniform("disputes") < self._disputes[due.population]) & plain, rival, NONE)
            if self._some_are_mutual:
                mutual = self._mutual[due.population]
                edges.append(DraftEdge("contradicts", np.where(mutual, rival, NONE), mutual=True))
                rival = np.where(mutual, NONE, rival)
            edges.append(DraftEdge("contradicts", rival))
        if self._supports.any():
            friend = push.pick(push.row, push.best(others & agrees))
            supports = (due.uniform("supports") < self._supports[due.population]) & plain
            edges.append(DraftEdge("supports", np.where(supports, friend, NONE)))
        revises = self._revises[due.population] & plain
        return edges + [
            DraftEdge("supersedes", np.where(revises, row, NONE)) for row in (latest.row, *latest.unsuperseded.T)
        ]
