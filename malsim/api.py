"""Public API (`import malsim as ms`): the functions `read`, `run` and `fork`, and a `Run` class with figures."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.adapters.engine.adapter import Adapter
from malsim.base.errors import ScenarioError, UsageError, nearest
from malsim.base.files.outputs import save_files
from malsim.base.files.vcd import vcd_text
from malsim.base.finite import finite
from malsim.base.progress import progress
from malsim.lab.space.differences import changes_of, differences, in_title, listed, value_text, words
from malsim.scenario.file.scenario_file import read
from malsim.showing.plots.runs.answer_lines import answers, turns
from malsim.showing.plots.runs.memory_load import staleness
from malsim.showing.plots.runs.signal_lanes import signal_lanes
from malsim.showing.plots.runs.trajectories import trajectories
from malsim.showing.plots.runs.variants import RunLine, variants
from malsim.showing.plots.runs.waterfall import waterfall
from malsim.sim import bench
from malsim.sim.agent.netlist_runner import ALARMS
from malsim.sim.record.bands import bands_of
from malsim.sim.replay.fork import TurnPush, push_on
from malsim.sim.replay.fork import fork as forked_run
from malsim.sim.run import Run as BareRun
from malsim.sim.settings.scenario import Scenario
from malsim.sim.why.signal_cause import all_signals, wired
from malsim.sim.world.clock import DAY
from malsim.sim.writers.engine.user_process import UserProcess

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from malsim.showing.plots.style import Sheet

NAMES = {"effective": "Effective confidence", "rank": "Rank", "currency": "Currency"}

__all__ = ["Checkpoint", "Figures", "Run", "fork", "read", "run"]


class Run(BareRun):
    """Run whose figures are methods of `plot`, such as `run.plot.effective()`."""

    def replication(self, number: int) -> Run:
        """Repeat a single replication, bit for bit, and record all its cells and events."""
        if self.scenario.forked is not None:
            hint = "use ms.fork(run, …, first=N, replications=1)"
            raise UsageError("a replication of a fork cannot be run alone", where="replication", hint=hint)
        return run(self.scenario, first=number, replications=1, record="all", record_every=1)

    def push(self, day: float, rep: int | None = None) -> TurnPush:
        """Return the last push on or before a day: `print(run.push(30))`.

        The run is repeated up to that turn, in a single replication (default: the first).
        """
        if self.scenario.forked is not None:
            raise UsageError("the pushes of a fork cannot be shown", where="push", hint="use the run that was forked")
        return push_on(self.scenario, day, rep)

    def at(self, day: float) -> Checkpoint:
        """Return a checkpoint at a given day: `run.at(day=30).fork(rules={"challenge_ceiling": 0.4})`."""
        return Checkpoint(self, finite(day, where="day", low=0.0, high=self.scenario.days))

    def vcd(self) -> str:
        """Return the first replication's signals as a value change dump, which waveform viewers can open.

        Raises
        ------
        ScenarioError
            If no signal was recorded.
        """
        samples, kinds = all_signals(self, self.scenario.first)
        bits = [channel for channel, kind in kinds.items() if kind == "bit"]
        return vcd_text(samples, bits, tick=float(self.scenario.turn_every))

    @property
    def plot(self) -> Figures:
        """Figures of this run."""
        return Figures(self)

    def page(self) -> str:
        """Return the run as a self-contained HTML page with a time slider, zoom, and an explanation of each point."""
        from malsim.showing.pages.run_page import run_page

        return run_page(self, changed=listed(changes_of(self.scenario)))


class Figures:
    """Figures of a run. Each method returns a matplotlib figure, which notebooks display and `savefig` writes."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def effective(self, *, cells: Sequence[str] | None = None, beside: Run | Sequence[Run] = ()) -> Sheet:
        """Draw effective confidence over time or, for laws without a belief, the rank.

        Parameters
        ----------
        cells
            Handles of the cells to draw; None draws all.
        beside
            Other runs to draw in the same figure, with a panel per cell and a line per run, labelled by the settings in
            which the runs differ. Without other runs, the figure has a panel per object and a line per cell.

        Raises
        ------
        UsageError
            If a handle was not recorded, or a run recorded no cells.
        """
        return self._over_time(self._run.score, cells, beside)

    def currency(self, *, cells: Sequence[str] | None = None, beside: Run | Sequence[Run] = ()) -> Sheet:
        """Draw currency over time. The parameters are the same as for `effective`."""
        return self._over_time("currency", cells, beside)

    def answers(self) -> Sheet:
        """Draw the best true and the best false claim about each fact over time, with bands over the replications."""
        run = self._run
        changes = run.events.filter(pl.col("kind") == "changed") if run.scenario.replications == 1 else None
        return answers(self._bands, title=self._title("Answers"), changes=changes)

    def signals(self, rep: int | None = None) -> Sheet:
        """Draw the netlist's signals in one replication (by default the first): numbers as lines, bits as lanes."""
        run = self._run
        rep = run.scenario.first if rep is None else rep
        samples, channels = wired(run, rep)
        if channels.is_empty():
            raise ScenarioError(
                "no signal of this netlist was recorded", hint="connect a signal to an existing pin or field"
            )
        events = run.events.filter((pl.col("rep") == rep) & pl.col("kind").is_in(ALARMS))
        return signal_lanes(samples, channels, events, title=self._title(f"Signals, replication {rep}"))

    def turns(self) -> Sheet:
        """Draw the reader's turns over time: harm, refusals and opened cells."""
        scenario = self._run.scenario
        every = int(scenario.reader.compact_every) if scenario.reader else 0
        step = scenario.turn_every / DAY
        compactions = [turn * step for turn in range(every + 1, int(scenario.days / step) + 1, every)] if every else []
        return turns(self._bands, title=self._title("Reader's turns"), compactions=compactions)

    def staleness(self) -> Sheet:
        """Draw the day on which each active cell becomes stale, in the first replication."""
        run = self._run
        cells = run.cells.filter(pl.col("rep") == run.scenario.first)
        labels = run.memory.cells.select(pl.col("handle").alias("cell"), "title", pl.col("stability").cast(pl.String))
        return staleness(cells, labels, stale_below=run.scenario.rules.stale_below, title=self._title("Staleness"))

    @cached_property
    def _bands(self) -> pl.DataFrame:
        run = self._run
        return run.bands if run.bands.height else bands_of(run.signals)

    def waterfall(self, cell: str, t: float | None = None, rep: int | None = None) -> Sheet:
        """Draw the terms of a cell's effective confidence at a given time as a waterfall chart."""
        explanation = self._run.explain(cell, t, rep)
        title = f'{explanation.handle} "{explanation.title}" on day {explanation.t:g}'
        return waterfall(explanation.terms, explanation.effective, title=title)

    def _title(self, quantity: str) -> str:
        return f"{quantity}, {in_title(changes_of(self._run.scenario))}"

    def _over_time(self, column: str, cells: Sequence[str] | None, beside: Run | Sequence[Run]) -> Sheet:
        others = [beside] if isinstance(beside, BareRun) else list(beside)
        if others:
            return _side_by_side([self._run, *others], column, cells)
        run, scenario, title = self._run, self._run.scenario, self._title(NAMES[column])
        lines, events = recorded(run)
        if scenario.writers and scenario.replications > 1:
            title += f", replication {scenario.first}"
        labels = run.labels.filter(pl.col("object").is_not_null() | pl.lit(not scenario.facts))
        if cells is not None:
            labels = run.labels.filter(pl.col("cell").is_in(_checked(run, cells)))
        note = f"{scenario.name}, seed {scenario.seed}; {listed(changes_of(scenario))}"
        return trajectories(lines, events, labels, column=column, title=title, note=note)

    def save(self, folder: Path) -> list[Path]:
        """Write the standard figures as PNG files and return their paths."""
        cells = self._run.cells
        names = ["effective"] if cells.height else []
        names += ["currency"] if cells["currency"].count() else []
        names += ["signals"] if self._run.scenario.netlist and wired(self._run, self._run.scenario.first)[1].height else []
        names += ["staleness"] if cells.height and self._run.scenario.initial_memory else []
        names += ["answers"] if (self._bands["signal"] == "for_truth").any() else []
        names += ["turns"] if (self._bands["signal"] == "words").any() else []
        return save_files(folder, {f"{name}.png": getattr(self, name)() for name in names})


def recorded(run: BareRun) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the cells and events to draw, from only the first replication if writers are random."""
    if run.scenario.writers and run.scenario.replications > 1:
        first = pl.col("rep") == run.scenario.first
        return run.cells.filter(first), run.events.filter(first)
    return run.cells, run.events


def _checked(run: BareRun, cells: Sequence[str]) -> list[str]:
    recorded = run.cells["cell"].unique(maintain_order=True).to_list()
    for cell in cells:
        if cell not in recorded:
            hint = nearest(cell, recorded, "run.cells lists the recorded cells")
            raise UsageError("no such cell was recorded", where="plot", given=cell, hint=hint)
    return list(cells)


def _side_by_side(runs: Sequence[BareRun], column: str, cells: Sequence[str] | None) -> Sheet:
    different = differences([run.scenario for run in runs])
    single = len(different) == 1
    columns = [
        [value_text(value) if single else f"{words(name)} {value_text(value)}" for value in values]
        for name, values in different.items()
    ]
    labels = [", ".join(row) for row in zip(*columns, strict=True)]
    lines = [RunLine(label=label, cells=recorded(run)[0]) for label, run in zip(labels, runs, strict=True)]
    title = f"{NAMES[column]} by {' and '.join(map(words, different))}" + f": {', '.join(labels)}" * single
    return variants(lines, panel_titles(runs, cells), column=column, title=title, note=runs[0].scenario.name)


def panel_titles(runs: Sequence[BareRun], cells: Sequence[str] | None = None) -> dict[str, str]:
    """Map handles to panel titles, for the given cells or all cells. Omit cells that are not drawn in every run."""
    for run in runs:
        if run.cells.is_empty():
            hint = 'use ms.run(scenario, replications=1, record="all"), or run.plot.answers()'
            raise UsageError("the run recorded no cells to draw", where="plot", given=run.scenario.name, hint=hint)
    handles = [recorded(run)[0]["cell"].unique(maintain_order=True) for run in runs]
    names = _checked(runs[0], cells) if cells is not None else handles[0].to_list()
    every = not runs[0].scenario.facts or cells is not None
    of_first = (pl.col("rep") == runs[0].scenario.first) & (pl.col("object").is_not_null() | pl.lit(every))
    labels = dict(runs[0].labels.filter(of_first).select("cell", "title").iter_rows())
    shared = set(labels).intersection(*handles)
    return {name: f'{name} "{labels[name]}"' for name in names if name in shared}


@dataclass(frozen=True)
class Checkpoint:
    """Point in a run (a day) from which the run can be continued."""

    run: Run
    day: float

    def fork(self, **changes: Any) -> Run:
        """Continue the run from this day under other settings. See `fork`."""
        return fork(self.run, day=self.day, **changes)


def fork(run: BareRun | Scenario, *, day: float, **changes: Any) -> Run:
    """Continue a run from a given day under other `rules`, `law`, `writers` or `faults`. See `malsim.sim.replay.fork`.

    Without changes, the frames are bit-for-bit equal to those of the uninterrupted run.
    """
    return _with_figures(forked_run(run, day=day, watch=partial(progress, what="fork", unit="tick"), **changes))


def _with_figures(bare: BareRun) -> Run:
    return Run(**{part.name: getattr(bare, part.name) for part in fields(bare)})


def run(
    scenario: Scenario | str | Path,
    *,
    memory: object = None,
    processes: Sequence[object] = (),
    watch: bench.Watch | None = None,
    **changes: Any,
) -> Run:
    """Run a scenario, given as an object or a path. `changes` override its settings, such as `replications=1000`.

    `memory` is your own memory: a class, a factory function (see `malsim.adapters.contract`), or a name
    `package.module:factory`. `processes` are your own SimPy processes: generator functions that accept an environment and a
    desk (`malsim.sim.processes.desk.Desk`), or names of such functions. Passing a path counts as consent to run the code
    that the file names. `watch` wraps the sequence of tick times (ms); by default it shows a progress bar.

    The returned `Run` has the frames `cells`, `events`, `writers` and `signals`, and `plot`, `explain` and `why`.
    """
    script = scenario if isinstance(scenario, Scenario) else read(scenario, allow_code=True)
    if memory is not None:
        changes["adapter"] = Adapter.of(memory)
    if processes:
        changes["processes"] = (*script.processes, *(UserProcess.of(item) for item in processes))
    if changes:
        script = script.replace(**changes)
    return _with_figures(bench.run(script, watch=watch or partial(progress, what=script.name, unit="tick")))
