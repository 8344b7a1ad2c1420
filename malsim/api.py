"""What `import malsim as ms` gives: a run with its figures, and the few functions a user types."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.adapters.engine.adapter import Adapter
from malsim.base.errors import ScenarioError, UsageError
from malsim.base.files.outputs import save_files
from malsim.base.finite import finite
from malsim.base.progress import progress
from malsim.scenario.file.scenario_file import read
from malsim.showing.plots.runs.answer_lines import answers, turns
from malsim.showing.plots.runs.signal_lanes import signal_lanes
from malsim.showing.plots.runs.staleness import staleness
from malsim.showing.plots.runs.trajectories import trajectories
from malsim.showing.plots.runs.waterfall import waterfall
from malsim.sim import bench
from malsim.sim.agent.netlist_runner import ALARMS
from malsim.sim.record.bands import bands_of
from malsim.sim.replay.fork import fork as forked_run
from malsim.sim.replay.turn_push import TurnPush, push_on
from malsim.sim.run import Run as BareRun
from malsim.sim.settings.scenario import Scenario
from malsim.sim.why.wired_signals import wired
from malsim.sim.world.clock import DAY
from malsim.sim.writers.engine.user_process import UserProcess

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from malsim.showing.plots.style import Sheet

__all__ = ["Checkpoint", "Figures", "Run", "fork", "read", "run"]


class Run(BareRun):
    """A run whose figures are at hand: `run.plot.effective()`."""

    def replication(self, number: int) -> Run:
        """Replication `number` run again alone and recorded in full: the same bit for bit, with cells and events."""
        if self.scenario.forked is not None:
            hint = "ms.fork(run, …, first=N, replications=1)"
            raise UsageError("a fork has no replication alone", where="replication", hint=hint)
        return run(self.scenario, first=number, replications=1, record="all", record_every=1)

    def push(self, day: float, rep: int | None = None) -> TurnPush:
        """What the reader was pushed in the last turn not after a day, as text: `print(run.push(30))`.

        The run is made again up to there, in that replication alone.
        """
        if self.scenario.forked is not None:
            raise UsageError("of a fork no push is kept", where="push", hint="ask the run that it was forked from")
        return push_on(self.scenario, day, rep)

    def at(self, day: float) -> Checkpoint:
        """A day to go on from under other settings: `run.at(day=30).fork(rules={"challenge_ceiling": 0.4})`."""
        return Checkpoint(self, finite(day, where="day", low=0.0, high=self.scenario.days))

    @property
    def plot(self) -> Figures:
        """The figures of this run."""
        return Figures(self)

    def page(self) -> str:
        """The run as one HTML page that opens offline: a time slider, lines on and off, zoom, and why? at any point."""
        from malsim.showing.pages.run_page import run_page

        return run_page(self)


class Figures:
    """Figures of one run; each returns a matplotlib figure that notebooks show and `savefig` writes."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def effective(self) -> Sheet:
        """Effective confidence over time, a panel an object; the rank where the law has no belief."""
        return self._over_time(self._run.score)

    def currency(self) -> Sheet:
        """Currency over time, a panel an object."""
        return self._over_time("currency")

    def answers(self) -> Sheet:
        """The best true and the best false claim of each fact over time, with bands over replications."""
        run = self._run
        alone = run.scenario.replications == 1
        changes = run.events.filter(pl.col("kind") == "changed") if alone else None
        return answers(self._bands, title=run.scenario.why, changes=changes)

    def signals(self, rep: int | None = None) -> Sheet:
        """The signals of the run's netlist in one replication, its first by default: values as lines, bits as lanes."""
        run = self._run
        rep = run.scenario.first if rep is None else rep
        samples, channels = wired(run, rep)
        if channels.is_empty():
            raise ScenarioError("no signal of this netlist was recorded", hint="wire one to a pin or a field that is there")
        events = run.events.filter((pl.col("rep") == rep) & pl.col("kind").is_in(ALARMS))
        return signal_lanes(samples, channels, events, title=run.scenario.why)

    def turns(self) -> Sheet:
        """The reader's turns over time: harm, refusals, what was opened."""
        scenario = self._run.scenario
        every = int(scenario.reader.compact_every) if scenario.reader else 0
        step = scenario.turn_every / DAY
        compactions = [turn * step for turn in range(every + 1, int(scenario.days / step) + 1, every)] if every else []
        return turns(self._bands, title=scenario.why, compactions=compactions)

    def staleness(self) -> Sheet:
        """Until when each active cell is current, in the first replication."""
        run = self._run
        cells = run.cells.filter(pl.col("rep") == run.scenario.first)
        labels = run.memory.cells.select(pl.col("handle").alias("cell"), "title", pl.col("stability").cast(pl.String))
        return staleness(cells, labels, stale_below=run.scenario.rules.stale_below, title=run.scenario.why)

    @cached_property
    def _bands(self) -> pl.DataFrame:
        run = self._run
        return run.bands if run.bands.height else bands_of(run.signals)

    def waterfall(self, cell: str, t: float | None = None, rep: int | None = None) -> Sheet:
        """One cell's effective at a time, term by term."""
        explanation = self._run.explain(cell, t, rep)
        title = f'{explanation.handle} "{explanation.title}" on day {explanation.t:g}'
        return waterfall(explanation.terms, explanation.effective, title=title)

    def _over_time(self, column: str) -> Sheet:
        run = self._run
        cells, events, title = run.cells, run.events, run.scenario.why
        if run.scenario.writers and run.scenario.replications > 1:  # each replication has cells of its own
            first = pl.col("rep") == run.scenario.first
            cells, events, title = cells.filter(first), events.filter(first), f"{title} (replication {run.scenario.first})"
        labels = run.labels.filter(pl.col("object").is_not_null() | pl.lit(not run.scenario.facts))
        return trajectories(cells, events, labels, column=column, title=title)

    def save(self, folder: Path) -> list[Path]:
        """Write the standard figures as PNG; returns the paths."""
        cells = self._run.cells
        names = ["effective"] if cells.height else []
        names += ["currency"] if cells["currency"].count() else []
        names += ["signals"] if self._run.scenario.netlist and wired(self._run, self._run.scenario.first)[1].height else []
        names += ["staleness"] if cells.height and self._run.scenario.initial_memory else []
        names += ["answers"] if (self._bands["signal"] == "for_truth").any() else []
        names += ["turns"] if (self._bands["signal"] == "words").any() else []
        return save_files(folder, {f"{name}.png": getattr(self, name)() for name in names})


@dataclass(frozen=True)
class Checkpoint:
    """A day of a run."""

    run: Run
    day: float

    def fork(self, **changes: Any) -> Run:
        """The run continued from that day; see `fork`."""
        return fork(self.run, day=self.day, **changes)


def fork(run: BareRun | Scenario, *, day: float, **changes: Any) -> Run:
    """Go on with a run from a day under other `rules`, `law`, `writers` or `faults`; see `malsim.sim.replay.fork`.

    With no change the frames are those of the uninterrupted run, bit for bit.
    """
    return _with_figures(forked_run(run, day=day, watch=partial(progress, what="fork", unit="tick"), **changes))


def _with_figures(bare: BareRun) -> Run:
    return Run(**{part.name: getattr(bare, part.name) for part in fields(bare)})


def run(scenario: Scenario | str | Path, *, memory: object = None, processes: Sequence[object] = (), **changes: Any) -> Run:
    """Run a scenario, given as one or as the path of its file; `changes` replace settings: `replications=1000`.

    `memory` is one of your own: a class, a function that makes one (`malsim.adapters.contract`), or its name,
    `package.module:factory`. `processes` are SimPy processes of your own: generator functions of an environment and a
    desk (`malsim.sim.processes.desk.Desk`), or their names. A path may name code in its file: running it from Python is
    consent.

    Returns a `Run` with frames `cells`, `events`, `writers`, `signals`; `run.plot`, `run.explain`, `run.why`.
    """
    script = scenario if isinstance(scenario, Scenario) else read(scenario, allow_code=True)
    if memory is not None:
        changes["adapter"] = Adapter.of(memory)
    if processes:
        changes["processes"] = (*script.processes, *(UserProcess.of(each) for each in processes))
    if changes:
        script = script.replace(**changes)
    return _with_figures(bench.run(script, watch=partial(progress, what=script.name, unit="tick")))
