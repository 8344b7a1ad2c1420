"""Main loop of the simulator. A SimPy calendar drives gate, reader and tick, and a recorder collects the results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl
import simpy

from malsim.base.errors import ProcessError
from malsim.base.limits import Limits
from malsim.memory import Memory
from malsim.memory.gate.edit import verified
from malsim.memory.port import AnswersReads, HoldsGraph, ReadsDerived, Verdicts, view_now
from malsim.memory.schema import NONE
from malsim.sim.agent import hooks
from malsim.sim.agent.netlist_runner import NetlistRunner
from malsim.sim.agent.oversight.triage_desk import pool_of
from malsim.sim.agent.turns import Session
from malsim.sim.context.cell_index import CellIndex
from malsim.sim.context.event_log import RunContext
from malsim.sim.context.snapshot import Snapshot, shows, within
from malsim.sim.context.turn import TurnCounters
from malsim.sim.engine.intake import Inbox, Intake
from malsim.sim.engine.populations import Populations
from malsim.sim.processes.corrector import Corrector
from malsim.sim.processes.process_crew import ProcessCrew
from malsim.sim.record.recorder import Recorder
from malsim.sim.record.scoring import FinalScores
from malsim.sim.run import Run
from malsim.sim.settings.memory_law import plant_of
from malsim.sim.settings.scenario import check_size
from malsim.sim.world import World
from malsim.sim.world.clock import DAY, days, milliseconds
from malsim.sim.writers.engine.claim_batch import ClaimBatch

if TYPE_CHECKING:
    from collections.abc import Generator

    from malsim.memory.gate.verdicts import GateResult
    from malsim.sim.settings.scenario import Scenario

Watch: TypeAlias = Callable[[Sequence[int]], Iterable[int]]
Later: TypeAlias = "tuple[int, Scenario]"


def run(scenario: Scenario, *, watch: Watch = iter, later: Later | None = None) -> Run:
    """Run a scenario from start to finish, advancing all replications together.

    `watch` wraps the sequence of tick times (ms), like a progress bar. `later` is a time (ms) and the scenario whose rules
    apply to all later ticks; see `malsim.sim.replay.fork`. At each tick, earlier claims pass the gate, the reader works,
    the reader's claims are admitted, the memory ticks, and the state is recorded. With the rule `reads = "last tick"` the
    reader works first. Raises `ScenarioError` if the scenario exceeds the limits in force, and `ProcessError`, which
    contains the run so far, if a process fails.
    """
    if Limits.in_force():
        check_size(scenario)
    bench = Bench(scenario, watch, later)
    try:
        bench.calendar.run()
        return bench.result()
    except ProcessError as problem:
        problem.run = bench.result()
        raise
    finally:
        if isinstance(bench.plant, AnswersReads):
            bench.plant.close(bench.state)


class Bench:
    """State of a run in progress."""

    def __init__(self, scenario: Scenario, watch: Watch = iter, later: Later | None = None) -> None:
        self.scenario, self._watch, self._later, self._ticks_at = scenario, watch, later, scenario.ticks_at
        self.calendar = simpy.Environment(initial_time=0)
        reps = scenario.first + np.arange(scenario.replications)
        world = World(scenario.facts, seed=scenario.seed, reps=reps, end=milliseconds(scenario.days) + 1)
        self.recorder = recorder = Recorder(scenario)
        self.context = RunContext(world=world, reps=reps, seed=scenario.seed, log=recorder.log)
        self.truth, self._scanned = world.first.copy(), self.calendar.event()
        self.populations, self.inbox = populations, _ = Populations(scenario, self.context), Inbox()
        self.crew, self.corrector = ProcessCrew(scenario, self.context, lambda: self.current), None
        if recorder.corrections:
            self.corrector = Corrector(scenario, self.context, self.inbox, recorder.corrections, recorder.scopes)
        self.cell_index = CellIndex(scenario.facts, scenario.replications, populations.templates.statements)
        self.intake = Intake(scenario, populations)
        self._truth_until = -1  # time (ms) up to which truth changes have been recorded
        self.counters = self.session = self.reviewers = None
        if scenario.reader:
            self.counters = TurnCounters(len(reps), compacts=scenario.reader.compact_every > 0)
            self.session = Session(scenario.reader, self.context, self.counters, who=self.populations.reader, form=0)
        if scenario.reviewers:
            acted = self.session.acted if self.session else None
            who = self.populations.reviewers
            self.reviewers = pool_of(scenario.reviewers, scenario, self.context, who=who, acted=acted)
        self.netlist_runner = NetlistRunner.of(scenario, self.context, self.session.ops if self.session else None)
        self.context.log.writers = list(self.intake.vocabulary.writers)
        self.recorder.lineages, self.plant = self.populations.lineages, plant_of(scenario)
        self._begin(self.plant.init(reps.tolist(), self.intake.vocabulary))
        for process in (self._post_script, self._act, self._tick):
            self.calendar.process(process())

    def result(self) -> Run:
        recorder, state, plant = self.recorder, self.state, self.plant
        answering = plant if isinstance(plant, AnswersReads) else None
        recorder.close(self.scenario.days)
        return Run(
            scenario=self.scenario, cells=recorder.cells(), signals=recorder.signals(), events=recorder.events(),
            writers=recorder.writers(), bands=recorder.bands.frame(), plant=plant, state=state,
            vocabulary=self.intake.vocabulary, unseen=len(self.inbox), dropped=recorder.dropped,
            counters=self.counters.frame(self.scenario.first) if self.counters else None,
            reviews=self.reviewers.verdicts if self.reviewers else None, running_scores=recorder.running_scores,
            changes=recorder.changes, attack_scores=recorder.attack, correction_scores=recorder.corrections,
            scope_scores=recorder.scopes, final_scores=FinalScores.of(self.snapshot, self.truth),
            answers=answering.answers(state) if answering else {},
        ).without(answering.failures(state) if answering else {})  # fmt: skip

    def _begin(self, state: Any) -> None:
        plant = self.plant
        memory = plant.graph(state) if isinstance(plant, HoldsGraph) else Memory.empty()
        memory = self.netlist_runner.put(memory) if self.netlist_runner else memory
        if isinstance(plant, HoldsGraph):
            memory = hooks.orient(memory, self.scenario, 0.0, self.context.log) if self.session else memory
            state = plant.with_graph(state, memory)
        elif self.session:
            hooks.orient_reader(0.0, self.context.log)
        self._settle(state, 0.0)

    def _post_script(self) -> Generator[simpy.Event, None, None]:
        claims = self.scenario.claims
        if claims.is_empty():
            return
        reps = pl.DataFrame({"rep": self.recorder.reps})
        every = claims.drop("rep").join(reps, how="cross").select(claims.columns).sort("t", maintain_order=True)
        for batch in every.partition_by("t", maintain_order=True):
            yield self.calendar.timeout(max(0, milliseconds(batch["t"][0]) - self.calendar.now))
            self.inbox.post(batch)

    def _act(self) -> Generator[simpy.Event, None, None]:
        for start, end in zip([0, *self._ticks_at], self._ticks_at, strict=False):
            self.inbox.draft(self.populations.post(self.current, start, end))
            if (posted := self.crew.work(end)) is not None:
                self.inbox.post(posted)
            yield self._scanned
        self.crew.close()

    def _tick(self) -> Generator[simpy.Event, None, None]:
        before = 0
        for number, at in enumerate(self._watch(self._ticks_at), 1):
            yield self.calendar.timeout(at - self.calendar.now)
            if self._later and at > self._later[0]:
                self._under_rules(self._later[1])
            if self.session and at - before >= 2 * self.scenario.turn_every:
                gap = f"a gap of {(at - before) // self.scenario.turn_every - 1} turns"
                self._scan(self.state, at, [])
                self.context.log.every("caught_up", days(at), "session", "one tick for the whole gap", gap)
                hooks.orient_reader(days(at), self.context.log)
            self._turn(number, at, last=number == len(self._ticks_at))
            before, scanned, self._scanned = at, self._scanned, self.calendar.event()
            scanned.succeed()

    def _under_rules(self, scenario: Scenario) -> None:
        self._later, rules = None, scenario.rules
        if (rules, scenario.law) == (self.scenario.rules, self.scenario.law):
            return
        self.scenario = self.recorder.scenario = scenario
        self.plant = plant_of(scenario)
        self._settle(replace(self.state, rules=rules), float(self.calendar.now) / DAY)
        self.populations.templates = self.populations.templates.under(rules)
        self.intake = Intake(scenario, self.populations)
        if self.netlist_runner:
            self.netlist_runner.under(rules)

    def _turn(self, number: int, at: int, *, last: bool) -> None:
        now = days(at)
        state = self.corrector.act(self.plant, self.state, at) if self.corrector else self.state
        state = self.crew.read_opened(self.plant, state, now)
        claims = [self.reviewers.review(self.current, at)] if self.reviewers else []
        if self.session:
            if self.scenario.rules.reads == "now":
                state, claims = self._take_in(state, at, claims), []
            state, lessons = self._read(self.session, state, number, now)
            claims.append(lessons)
        self._scan(state, at, claims)
        if self.reviewers:
            self.reviewers.escalate(self.snapshot, at, now)
        changes, self._truth_until = self.context.world.between(self._truth_until + 1, at + 1), at
        self.truth[changes.fact, changes.rep] = changes.value
        self.recorder.log.changed(changes)
        self.crew.on_tick(self.current, self.netlist_runner)
        self.recorder.tick(
            now, self.snapshot, self.truth, last=last, counters=self.counters, reviewers=self.reviewers,
            netlist_runner=self.netlist_runner, shows=partial(shows, self.plant, self.state, now),
        )  # fmt: skip

    def _read(self, session: Session, state: Any, number: int, now: float) -> tuple[Any, ClaimBatch]:
        plant, reps = self.plant, np.arange(len(self.context.reps))
        if isinstance(plant, AnswersReads):
            state = plant.answer(state, reps, session.asks(number), int(session.reader.limit), now, session.reader.scope)
        snapshot = within(self._current(state, now), plant, state, now, self.scenario.facts, session.reader.scope)
        fact, opened, claims = session.run_turn(snapshot, number, now, self.netlist_runner)
        if isinstance(plant, AnswersReads):
            return state, claims
        state = plant.read(state, reps, fact, opened, now)
        if len(session.updated) and isinstance(plant, HoldsGraph):
            state = plant.with_graph(state, verified(plant.graph(state), session.updated, now, self.scenario.rules))
        return state, claims

    def _scan(self, state: Any, at: int, claims: list[ClaimBatch]) -> None:
        state, now = self._take_in(state, at, claims), days(at)
        if self.session:
            state = self._with_ops(self.session, state, at)
            self.session.close()
        state = self.plant.tick(state, now)
        self._settle(self._run_netlist(state, at, self.netlist_runner) if self.netlist_runner else state, now)

    def _take_in(self, state: Any, at: int, claims: list[ClaimBatch]) -> Any:
        waiting, drafts = self.inbox.drain(days(at))
        drafts = self.populations.ordered(ClaimBatch.joined([drafts, *claims]))
        return self._admit(state, drafts, waiting, days(at)) if len(drafts) or waiting is not None else state

    def _admit(self, state: Any, drafts: ClaimBatch, scripted: pl.DataFrame | None, now: float) -> Any:
        claims, index = self.intake.claims(drafts, scripted, checked=isinstance(self.plant, HoldsGraph))
        state, verdicts = self.plant.admit(state, claims)
        view = self.plant.view(state, now)
        self.recorder.admitted(verdicts, claims.rep, view, claims)
        self.crew.on_verdicts(claims, verdicts, view, self.intake.vocabulary.writers)
        row, new = np.full((2, len(drafts) + 1), NONE, dtype=np.int64)
        row[index], new[index] = verdicts.row, np.where(verdicts.verdict == 0, verdicts.row, NONE)
        self.cell_index.on_admitted(self.populations.templates.statement(drafts), new[:-1])
        if isinstance(self.plant, HoldsGraph):
            self.populations.templates.on_admitted(drafts, new[:-1], self.plant.graph(state))
        self.populations.on_verdicts(drafts, row[:-1])
        if self.session:
            self.session.on_verdicts(drafts, row[:-1], view)
        return state

    def _run_netlist(self, state: Any, at: int, netlist_runner: NetlistRunner) -> Any:
        plant = self.plant
        if not isinstance(plant, HoldsGraph):
            netlist_runner.scan(Memory.empty(), at, self.counters, self.reviewers, lambda _: None)
            return state
        on_verdicts = partial(self._record, plant, state, at)
        memory = netlist_runner.scan(plant.graph(state), at, self.counters, self.reviewers, on_verdicts)
        after = plant.with_graph(state, memory)
        return plant.with_derived(after, netlist_runner.derived) if isinstance(plant, ReadsDerived) else after

    def _with_ops(self, session: Session, state: Any, at: int) -> Any:
        plant = self.plant
        if not session.ops or not isinstance(plant, HoldsGraph):
            return state
        on_verdicts = partial(self._record, plant, state, at)
        return plant.with_graph(state, session.ops.admit(plant.graph(state), days(at), self.scenario.rules, on_verdicts))

    def _record(self, plant: Any, state: Any, at: int, result: GateResult) -> None:
        view = plant.view(plant.with_graph(state, result.memory), days(at))
        self.recorder.admitted(Verdicts.of(result), result.rep - self.scenario.first, view)

    def _settle(self, state: Any, now: float) -> None:
        self.state = state
        view = self.plant.view(state, now)
        self.cell_index.grow(view)
        self.snapshot = Snapshot(view, self.cell_index)
        self.recorder.log.take_names(view)
        self.current = self._current(state, now) if self.netlist_runner else self.snapshot

    def _current(self, state: Any, now: float) -> Snapshot:
        plant = self.plant
        view = view_now(plant, state, now)
        if state is not self.state:
            self.cell_index.grow(view)
            self.recorder.log.take_names(view)
        return self.snapshot if view is self.snapshot.view else Snapshot(view, self.cell_index)
