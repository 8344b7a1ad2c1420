"""Checks judged over what really happened: a store's history, a memory that can be imported, or a log of events."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import polars as pl

from malsim.base.errors import MalsimError, ScenarioError
from malsim.base.limits import Limits
from malsim.importers.building.bring import bring
from malsim.importers.event_log import is_log
from malsim.importers.reading.records import Options
from malsim.memory.store import Store
from malsim.memory.tables.connect import is_store
from malsim.netlist.evaluate import crosses
from malsim.scenario.checks.checks import BaselineCheck, Goal
from malsim.scenario.checks.kind import KindCheck
from malsim.scenario.history.log_history import log_history
from malsim.scenario.history.store_history import store_history, writes
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


@dataclass(frozen=True)
class HistorySource:
    """Where a history stands: a store, a memory that can be imported, or with `log` a file of events.

    `confidence` is stated for the cells of an imported memory that state none.
    """

    path: Path
    log: bool = False
    confidence: float | None = None

    @classmethod
    def of(cls, path: Path, *, confidence: float | None = None) -> HistorySource:
        """Of a path, a log of events by what is in it."""
        return cls(path, log=is_log(path), confidence=confidence)

    @property
    def flag(self) -> str:
        """The option that names it."""
        return "--events" if self.log else "--on"

    @property
    def is_foreign(self) -> bool:
        """Whether it is a memory that is to be imported."""
        return not self.log and self.path.exists() and not is_store(self.path)

    def stamp(self) -> object:
        """What changes whenever something is written: a store's writes, or size and time of each file of another memory."""
        if not self.log and not self.is_foreign:
            return writes(self.path)
        parts = [self.path, *self.path.rglob("*"), self.path.with_name(f"{self.path.name}-wal")]
        states = {part: part.stat() for part in parts if part.is_file()}
        return [(str(part), at.st_size, at.st_mtime_ns, at.st_ino) for part, at in sorted(states.items())]


def read_history(scenario: Scenario, recording: HistorySource, *, limits: Limits | None = None) -> History:
    """What the checks and the netlist of a scenario ask of a history, and no more than that."""
    reads = [address for each in scenario.checks for address in each.reads]
    all_cells = any(isinstance(each, KindCheck) and not each.reads for each in scenario.checks) or any(map(crosses, reads))
    objects = any(map(_OF_OBJECTS.match, reads))
    cells = None if all_cells else frozenset(address.partition("-")[0] for address in reads)
    limits = limits or Limits()
    if recording.log:
        return with_signals(log_history(recording.path, scenario, cells=cells, objects=objects, limits=limits))
    snapshots = scenario.netlist is not None
    with tempfile.TemporaryDirectory(prefix="malsim-") as folder:
        path = recording.path
        if recording.is_foreign:
            path = Path(folder) / "imported.sqlite"
            imported = bring(recording.path, options=Options(confidence=recording.confidence))
            with Store(path) as store:
                store.save(imported.memory if imported.start else _of_one_day(imported.memory), start=imported.start)
        return with_signals(store_history(path, scenario, cells=cells, snapshots=snapshots, objects=objects, limits=limits))


def _of_one_day(memory: Memory) -> Memory:
    """A memory that dates nothing, with every cell on day 0: its history has one instant."""
    return memory.with_cells(memory.cells.with_columns(pl.lit(0.0).alias("created"), pl.lit(0.0).alias("touched")))


def judge_history(scenario: Scenario, recording: HistorySource, *, limits: Limits | None = None) -> Judged:
    """Judge the checks of a scenario over a history as it stands, as if it were a finished run."""
    source = f" {recording.flag} {recording.path}"
    try:
        history = read_history(scenario, recording, limits=limits)
        trace = trace_of(history) if any(not isinstance(each, Goal) for each in scenario.checks) else None
    except MalsimError as problem:
        return Judged(scenario=scenario, error=str(problem), source=source)
    checks = [each for each in scenario.checks if not isinstance(each, Goal)]
    outcomes = tuple(check_of_history(each, history, trace, limits or Limits()) for each in checks if trace is not None)
    run = cast("Run", history)  # it has the frames of one, which is all that is read of it from here on
    return Judged(scenario=history.scenario, outcomes=outcomes, run=run, source=source)


def check_of_history(check: Check, history: History, trace: Trace, limits: Limits) -> Outcome:
    """The outcome of one check of a history."""
    if isinstance(check, BaselineCheck):
        problem = ScenarioError("a baseline is of a simulated run", hint="ask a history properties")
        return Outcome(check=check, status="error", message=str(problem))
    return judge_check(check, cast("Run", history), trace, limits)
