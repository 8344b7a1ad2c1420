"""Checks judged on a recorded history: of a store, or of a memory that can be imported."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, cast

import polars as pl

from malsim.base.errors import MalsimError, ScenarioError
from malsim.importers.building.bring import bring
from malsim.memory.store import Store
from malsim.memory.tables.connect import is_store
from malsim.netlist.evaluate import crosses
from malsim.scenario.checks.checks import BaselineCheck, Goal
from malsim.scenario.checks.kind import KindCheck
from malsim.scenario.history.store_history import store_history
from malsim.scenario.history.tripwires import with_signals
from malsim.scenario.judge.judge import Judged, Outcome, judge_check
from malsim.scenario.properties.frames import trace_of

if TYPE_CHECKING:
    from malsim.memory import Memory
    from malsim.scenario.history.history_frames import History
    from malsim.scenario.properties import Trace
    from malsim.sim.run import Run
    from malsim.sim.settings.scenario import Check, Scenario

_OF_OBJECTS = re.compile(r"(belief|rivals)\(")


def read_history(scenario: Scenario, path: Path) -> History:
    """Read from a store, or a memory that can be imported, what the checks and the netlist of a scenario ask for."""
    reads = [address for each in scenario.checks for address in each.reads]
    all_cells = any(isinstance(each, KindCheck) and not each.reads for each in scenario.checks) or any(map(crosses, reads))
    objects = any(map(_OF_OBJECTS.match, reads))
    cells = None if all_cells else frozenset(address.partition("-")[0] for address in reads)
    snapshots = scenario.netlist is not None
    with tempfile.TemporaryDirectory(prefix="malsim-") as folder:
        if path.exists() and not is_store(path):
            imported = bring(path)
            path = Path(folder) / "imported.sqlite"
            with Store(path) as store:
                store.save(imported.memory if imported.start else _of_one_day(imported.memory), start=imported.start)
        return with_signals(store_history(path, scenario, cells=cells, snapshots=snapshots, objects=objects))


def _of_one_day(memory: Memory) -> Memory:
    """Return a memory without dates with all cells on day 0: its history has one instant."""
    return memory.with_cells(memory.cells.with_columns(pl.lit(0.0).alias("created"), pl.lit(0.0).alias("touched")))


def judge_history(scenario: Scenario, path: Path) -> Judged:
    """Judge the checks of a scenario over the history of a store, as if it were a finished run."""
    source = f" --on {path}"
    try:
        history = read_history(scenario, path)
        trace = trace_of(history) if any(not isinstance(each, Goal) for each in scenario.checks) else None
    except MalsimError as problem:
        return Judged(scenario=scenario, error=str(problem), source=source)
    checks = [each for each in scenario.checks if not isinstance(each, Goal)]
    outcomes = tuple(check_of_history(each, history, trace) for each in checks if trace is not None)
    run = cast("Run", history)  # it has the frames of one, which is all that is read of it from here on
    return Judged(scenario=history.scenario, outcomes=outcomes, run=run, source=source)


def check_of_history(check: Check, history: History, trace: Trace) -> Outcome:
    if isinstance(check, BaselineCheck):
        problem = ScenarioError("a baseline is of a simulated run", hint="ask a history properties")
        return Outcome(check=check, status="error", message=str(problem))
    return judge_check(check, cast("Run", history), trace)
