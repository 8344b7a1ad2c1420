"""Evaluation of checks on the recorded history of a store or of an imported memory."""

from __future__ import annotations

import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import polars as pl

from malsim.base.errors import MalsimError, ScenarioError
from malsim.importers.building.bring import bring
from malsim.memory.store import Store
from malsim.memory.tables.connect import is_store
from malsim.netlist.evaluate import crosses
from malsim.scenario.checks.checks import BaselineCheck, Goal
from malsim.scenario.checks.kind import KindCheck
from malsim.scenario.history.store_history import as_columns, store_history
from malsim.scenario.judge.judge import Judged, Outcome, judge_check
from malsim.scenario.properties.frames import trace_of
from malsim.sim.agent.netlist_runner import NetlistRunner
from malsim.sim.context.event_log import EventLog, RunContext
from malsim.sim.context.recorded_rows import SignalLog
from malsim.sim.record.recorder import SIGNALS
from malsim.sim.world import World
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from malsim.scenario.history.store_history import History
    from malsim.sim.run import Run
    from malsim.sim.settings.scenario import Scenario

_OBJECT_SIGNAL = re.compile(r"(belief|rivals)\(")


def read_history(scenario: Scenario, path: Path) -> History:
    """Read what a scenario's checks and netlist need from a store or from a memory that can be imported."""
    reads = [address for check in scenario.checks for address in check.reads]
    all_cells = any(isinstance(check, KindCheck) and not check.reads for check in scenario.checks) or any(
        map(crosses, reads)
    )
    objects = any(map(_OBJECT_SIGNAL.match, reads))
    cells = None if all_cells else frozenset(address.partition("-")[0] for address in reads)
    snapshots = scenario.netlist is not None
    with tempfile.TemporaryDirectory(prefix="malsim-") as folder:
        if path.exists() and not is_store(path):
            imported = bring(path)
            path = Path(folder) / "imported.sqlite"
            with Store(path) as store:
                memory = imported.memory
                if not imported.start:  # if the import has no dates, all cells exist from day 0
                    first_day = pl.lit(0.0).alias("created"), pl.lit(0.0).alias("touched")
                    memory = memory.with_cells(memory.cells.with_columns(first_day))
                store.save(memory, start=imported.start)
        return with_signals(store_history(path, scenario, cells=cells, snapshots=snapshots, objects=objects))


def judge_history(scenario: Scenario, path: Path) -> Judged:
    """Evaluate a scenario's checks on the recorded history of a store or of an imported memory."""
    source = f" --on {path}"
    checks = [check for check in scenario.checks if not isinstance(check, Goal)]
    try:
        history = read_history(scenario, path)
        trace = trace_of(history) if checks else None
    except MalsimError as problem:
        return Judged(scenario=scenario, error=str(problem), source=source)
    run = cast("Run", history)  # the checks read only frames, which a history has in common with a run
    baseline = ScenarioError("a baseline needs a simulated run", hint="use properties to check a history")
    outcomes = tuple(
        Outcome(check=check, status="error", message=str(baseline))
        if isinstance(check, BaselineCheck)
        else judge_check(check, run, trace)
        for check in checks
        if trace is not None
    )
    return Judged(scenario=history.scenario, outcomes=outcomes, run=run, source=source)


def with_signals(history: History) -> History:
    """Run the history's netlist on each snapshot of the memory, and add its signals and events to the history.

    Cells and edges in the netlist are ignored, since the store has its own. Flags are only recorded as events, and
    programs propose no claims. The netlist's tick is the median time between two scans. Raises `ScenarioError` if there is
    nothing to scan.
    """
    scenario = history.scenario
    netlist = scenario.netlist
    if netlist is None:
        return history
    if not history.snapshots:
        hint = "name a malsim store, or check properties without a netlist"
        raise ScenarioError("a netlist can only scan a malsim store", where=scenario.path, hint=hint)
    times = np.rint(np.array([t for t, _ in history.snapshots]) * DAY).astype(np.int64)
    period = int(np.median(np.diff(times))) if len(times) > 1 else DAY
    scenario = scenario.replace(
        turn_every=period, days=max(1.0, times[-1] / DAY, period / DAY), netlist=replace(netlist, derive=False)
    )
    reps = scenario.first + np.arange(scenario.replications)
    world = World((), seed=0, reps=reps, end=int(times[-1]) + 1)
    log = EventLog(reps, ())
    runner = NetlistRunner(netlist, scenario, RunContext(world=world, reps=reps, seed=0, log=log))
    runner.begin(history.snapshots[0][1])
    signals = SignalLog(reps)
    for at, (t, memory) in zip(times.tolist(), history.snapshots, strict=True):
        runner.scan(memory, at, None, None, lambda _: None)
        runner.record(t, signals)
    events = pl.concat([history.events, log.frame()]).sort("t", maintain_order=True)
    return replace(
        history, scenario=scenario, events=events, signals=pl.concat([history.signals, as_columns(signals.frame(), SIGNALS)])
    )
