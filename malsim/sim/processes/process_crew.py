"""Runner for users' processes, which are advanced from tick to tick."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.adapters.calls import text_of
from malsim.adapters.foreign_code import noted
from malsim.base.errors import ProcessError
from malsim.memory.gate.claims import as_claims, from_mappings
from malsim.memory.schema import NONE, VERDICT
from malsim.sim.processes.desk import Desk, Environment, PostVerdict, Room
from malsim.sim.world.clock import days

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    import polars as pl
    import simpy

    from malsim.memory.graph.arrays import Ints
    from malsim.memory.port import Claims, Verdicts, View
    from malsim.sim.agent.netlist_runner import NetlistRunner
    from malsim.sim.context.event_log import RunContext
    from malsim.sim.context.snapshot import Snapshot
    from malsim.sim.settings.population import ClaimFault
    from malsim.sim.settings.scenario import Scenario
    from malsim.sim.writers.engine.user_process import UserProcess


class ProcessCrew:
    """Users' processes in all replications.

    Each replication has its own environment, processes and random numbers, so its results do not depend on other
    replications. Between two ticks, processes see the memory after the first tick and post into the run's inbox.
    """

    def __init__(self, scenario: Scenario, context: RunContext, look: Callable[[], Snapshot]) -> None:
        signals = scenario.netlist.net.signals if scenario.netlist else {}
        names = tuple(name for name, signal in signals.items() if signal.domain == "run")
        self._room = Room(context, scenario.facts, look, names)
        self._true: dict[str, Any] = {name: np.zeros(len(context.reps), dtype=bool) for name in names}
        self._before: Ints = np.zeros(0, dtype=np.int64)  # rows of cells already reported as disputed
        self._environments = [Environment() for _ in context.reps] if scenario.processes else []
        functions = [(process, process.load()) for process in scenario.processes]
        self._name = f"process {', '.join(process.run for process in scenario.processes)}"
        self._desks: list[list[Desk]] = []
        for rep, env in enumerate(self._environments):
            self._desks.append([self._begin(*pair, env, rep, scenario.faults) for pair in functions])

    def _begin(
        self, process: UserProcess, function: Callable[..., Any], env: Environment, rep: int, faults: tuple[ClaimFault, ...]
    ) -> Desk:
        desk = Desk(process.name, env, self._room, rep)
        try:
            with noted(f"process {process.run}"):
                generator = function(env, desk)
        except Exception as problem:
            text = text_of(problem).removeprefix("raised ")
            raise ProcessError(f"the process could not start: {text}", where=process.run) from problem
        if not hasattr(generator, "throw"):
            hint, given = "write def my_writer(env, desk): … yield env.timeout(1)", type(generator).__name__
            raise ProcessError("the function did not return a generator", where=process.run, given=given, hint=hint)
        running = env.process(generator)
        for fault in faults:
            if fault.population == process.name:
                env.process(_interrupt(env, running, fault))
        return desk

    def work(self, end: int) -> pl.DataFrame | None:
        """Run all processes up to the tick at `end` (ms). Return the claims that they post, or None if there are none."""
        room = self._room
        for number, env in zip(room.context.reps.tolist(), self._environments, strict=False):
            with noted(self._name):
                env.advance(end, where=f"replication {number}")
        posted, room.posted = room.posted, []
        return as_claims(from_mappings(posted)) if posted else None

    def read_opened(self, plant: Any, state: Any, now: float) -> Any:
        """Mark the cells opened since the last tick as read, and return the new state of the memory."""
        opened, self._room.opened = self._room.opened, []
        if not opened:
            return state
        rep, rows = np.array(opened, dtype=np.int64).T
        return plant.read(state, rep, self._room.look().cell_index.fact[rows].astype(np.int64), rows, now)

    def on_verdicts(self, claims: Claims, verdicts: Verdicts, view: View, writers: Sequence[str]) -> None:
        for rep, desks in enumerate(self._desks):
            for desk in desks:
                posted = np.flatnonzero((claims.rep == rep) & (claims.writer == writers.index(desk.name)))
                answers: dict[int, PostVerdict] = {}
                for claim in posted.tolist():
                    row = int(verdicts.row[claim])
                    cell = view.name[row] if row != NONE else ""
                    answers[int(claims.sequence[claim])] = PostVerdict(VERDICT[int(verdicts.verdict[claim])], cell)
                if answers:
                    desk.on_verdicts(answers)

    def on_tick(self, snapshot: Snapshot, netlist_runner: NetlistRunner | None) -> None:
        if not self._environments:
            return
        signals = netlist_runner.of_runs() if netlist_runner else {}
        true = {name: np.asarray(signals.get(name, was)) > 0.0 for name, was in self._true.items()}
        rose, self._true = {name: true[name] & ~was for name, was in self._true.items()}, true
        disputed = np.setdiff1d(np.flatnonzero(snapshot.contradicted & snapshot.active), self._before)
        self._before = np.append(self._before, disputed)
        reps = snapshot.cell_index.rep[disputed]
        for rep, desks in enumerate(self._desks):
            for desk in desks:
                desk.on_tick({name for name, mask in rose.items() if mask[rep]}, disputed[reps == rep])

    def close(self) -> None:
        self._room.open = False


def _interrupt(env: Environment, process: simpy.Process, fault: ClaimFault) -> Generator[simpy.Event, None, None]:
    yield env.timeout(days(fault.start))
    if process.is_alive:
        process.interrupt(fault)
