"""Result of a run: recorded frames, the final memory, and explanations of its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.base.errors import UsageError
from malsim.base.files.outputs import save_files
from malsim.base.finite import finite
from malsim.memory.port import Explains, HoldsGraph
from malsim.netlist.evaluate import Frames, edges_by_handle, evaluate
from malsim.sim.record.manifest import manifest
from malsim.sim.record.metrics import metrics
from malsim.sim.record.run_data import RunData
from malsim.sim.why import cell_cause
from malsim.sim.why.cell_readers import readers
from malsim.sim.why.refused_claims import cap_lines, endings, refusal_lines
from malsim.sim.why.signal_cause import because, is_program, is_signal, of_program

if TYPE_CHECKING:
    from pathlib import Path

    from malsim.memory.explain import Explanation, LawExplanation
    from malsim.memory.port import View

FRAMES = ("cells", "signals", "events", "writers", "bands")


@dataclass(frozen=True, kw_only=True, repr=False)
class Run(RunData):
    """Finished run: the recorded frames and the final memory.

    `reviews` counts the reviewers' verdicts in each replication, `unseen` the claims made after the last tick, and
    `dropped` the edges that the memory could not store. `failures` maps the numbers of failed replications to errors; these
    replications are left out of all metrics and of all frames except the bands.

    Frames: `cells` (t, rep, cell, scores, flags, status, truth), `signals` (t, rep, row, signal, value), `events` (t,
    rep, kind, subject, detail, cause), `writers` (t, rep, writer, claims, contradicted, calibration); t in days.
    """

    def without(self, failures: Mapping[int, Exception]) -> Run:
        """Return the run without the rows of failed replications.

        Raises `UsageError` if `failures` is not a mapping from replication numbers to errors.
        """
        if not isinstance(failures, Mapping) or any(not isinstance(number, int) for number in failures):
            problem = "the failures are not a mapping from replication numbers to errors"
            raise UsageError(problem, where="Run.without", given=failures, hint="run.failures is such a mapping")
        if not failures:
            return self
        whole = ~pl.col("rep").is_in(list(failures))
        frames = {name: getattr(self, name).filter(whole) for name in ("cells", "signals", "events", "writers")}
        return replace(self, **frames, failures=failures)

    @cached_property
    def labels(self) -> pl.DataFrame:
        """Object and title of each item in the memory. Columns: rep, cell, object, title."""
        if isinstance(self.plant, HoldsGraph):
            return self.memory.cells.select("rep", pl.col("handle").alias("cell"), "object", "title")
        view, words = self.view, self.vocabulary
        titles = [
            f"{words.objects[index]} is {words.values[index][value]}"
            for index, value in zip(view.object, view.value, strict=True)
        ]
        rep = pl.Series("rep", view.rep + self.scenario.first, dtype=pl.Int32)
        about = pl.Series("object", words.objects, dtype=pl.String).gather(view.object)
        return pl.DataFrame([rep, view.name.alias("cell"), about, pl.Series("title", titles, dtype=pl.String)])

    @property
    def score(self) -> str:
        """Name of the score column in `cells`: "effective", or "rank" if the law has no belief."""
        ranks = "rank" in self.cells.columns and self.cells["effective"].null_count() == self.cells.height
        return "rank" if ranks else "effective"

    @cached_property
    def view(self) -> View:
        """View of the memory at the end of the run, available under any law."""
        return self.plant.view(self.state, float(self.scenario.days))

    def explain(self, cell: str, t: float | None = None, rep: int | None = None) -> Explanation | LawExplanation:
        """Return the terms of a cell's effective confidence at the last tick on or before `t` days.

        Returns a `memory.explain.Explanation`, or a `LawExplanation` under an item-based law or `records`. The result's
        `read_by` lists the signals, alarms, standing programs and checks that read the cell. `rep` is a replication number
        (default: the first).
        """
        rep, t = self.scenario.first if rep is None else rep, None if t is None else finite(t, where="t")
        if isinstance(self.plant, Explains):
            of_law = self._of_item(self.plant, cell, t, rep)
            if not isinstance(self.plant, HoldsGraph):
                return of_law
            return replace(of_law, read_by=readers(self, cell, t=of_law.t, rep=rep))
        of_graph = cell_cause.explain(self, cell, t=t, rep=rep)
        return replace(of_graph, read_by=readers(self, cell, t=of_graph.t, rep=rep))

    def why(self, cell: str, t: float | None = None, rep: int | None = None) -> str:
        """Return a sentence that explains a cell's effective confidence at `t` days and its last change.

        For a signal or a pin of the netlist, return one line per wire, back to the claim that changed the value. For a
        standing program, describe the cells that it reads and explain the cell that changed most.
        """
        rep = self.scenario.first if rep is None else rep
        if is_signal(self, cell):
            return "\n  because ".join(map(str, because(self, cell, t=t, rep=rep)))
        if is_program(self, cell):
            return of_program(self, cell, t=t, rep=rep)
        if isinstance(self.plant, Explains):
            return self._of_item(self.plant, cell, t, rep).why
        return cell_cause.explain(self, cell, t=t, rep=rep).why

    def _of_item(self, plant: Explains[Any], cell: str, t: float | None, rep: int) -> LawExplanation:
        return cell_cause.explain_item(plant, self.state, self.cells, cell, t=t, rep=rep, first=self.scenario.first)

    @cached_property
    def frames(self) -> Frames:
        """Frames in which addresses are resolved: the recorded frames, the graph's edges, and signals by pin."""
        edges = edges_by_handle(self.memory) if isinstance(self.plant, HoldsGraph) else None
        pins = self.scenario.netlist.pins if self.scenario.netlist else {}
        return Frames(self.cells, edges, self.writers, self.signals, pins)

    def evaluate(self, address: str, t: float | None = None) -> pl.DataFrame:
        """Return the values of an address such as `mean(dec_a3ee.~supports.*-scores-eff)`.

        Columns: t, rep, value, and row if the address selects rows.

        Returns the values at every recorded tick or, if `t` is given, at the last tick on or before `t` days.
        """
        return evaluate(address, self.frames, at=t)

    def metrics(self) -> pl.DataFrame:
        """Return the metrics with intervals over replications. Columns: metric, value, low, high, replications, meaning."""
        return metrics(self)

    @property
    def manifest(self) -> dict[str, object]:
        """Data needed to repeat the run and to check that the result is the same."""
        return manifest(self.scenario, {name: getattr(self, name) for name in FRAMES})

    def write(self, folder: Path) -> list[Path]:
        """Write every frame as Parquet and the manifest as JSON (all files or none), and return the paths."""
        import json

        frames = {f"{name}.parquet": getattr(self, name) for name in FRAMES}
        return save_files(folder, {**frames, "manifest.json": json.dumps(self.manifest, indent=1) + "\n"})

    def __repr__(self) -> str:
        """Return a short summary of the scenario, its events and its metrics."""
        scenario = self.scenario
        frame = self.cells if self.cells.height else self.bands
        counts = self.events.group_by("kind", maintain_order=True).agg(pl.len().cast(pl.Float64))
        if scenario.record == "bands":
            by_kind = self.bands.filter(pl.col("signal") == "events").group_by("row", maintain_order=True)
            counts = by_kind.agg(pl.col("mean").sum() * scenario.replications)
        events = ", ".join(f"{count:.0f} {kind}" for kind, count in counts.rows()) or "no events"
        times = f" × {scenario.replications} replications" if scenario.replications > 1 else ""
        lines = [
            f"{scenario.name}: {scenario.days:g} days, {frame['t'].n_unique()} ticks recorded{times}, seed {scenario.seed}",
            f"  {events}",
        ]
        for claim_lines in (refusal_lines, cap_lines):
            lines += claim_lines(self.events, self.bands, scenario.replications)
        if self.unseen:
            lines.append(f"  {self.unseen} claims arrived at or after the last tick and were not scanned")
        if self.dropped:
            lines.append(f"  {self.dropped} edges were dropped: {self.scenario.law} cannot store them")
        for number, problem in list(self.failures.items())[:MOST_LINES]:
            lines.append(f"  replication {number} failed and is left out of all figures: {problem}")
        if not scenario.facts:
            return "\n".join([*lines, *self._endings()])
        rows = self.metrics().filter(pl.col("metric").is_in(FIGURES) & pl.col("value").is_not_null()).to_dicts()
        return "\n".join([*lines, *(f"  {row['metric']:<14} {row['value']:.3f}{_interval(row)}" for row in rows)])

    def _endings(self) -> list[str]:
        ends = endings(self.cells.drop_nulls(self.score), column=self.score)
        lines = []
        for row in ends.to_dicts()[:MOST_LINES]:
            shapes = {0: "still moving, ends at", 1: "settled at"}
            shape = shapes.get(row["period"], f"repeats every {row['period']} ticks, ends at")
            swing = "" if row["period"] == 1 else f", peak to peak {row['amplitude']:.3f}"
            lines.append(f"  {row['cell']:<16} {self.score} {shape} {row['final']:.3f}{swing}")
        if ends.height > MOST_LINES:
            moving = ends.filter(ends["period"] != 1).height
            lines.append(f"  … and {ends.height - MOST_LINES} more; of all {ends.height}, {moving} had not settled")
        return lines


def _interval(row: Mapping[str, Any]) -> str:
    """Format an interval, or return a warning if it extends above 1 and is more than ten times as wide as the value."""
    if row["low"] is None:
        return ""
    if row["high"] > 1.0 and row["high"] - row["low"] > WIDE * abs(row["value"]):
        return f"  (the interval is too wide with {row['replications']} replications; run more)"
    return f" [{row['low']:.3f}, {row['high']:.3f}]"


WIDE = 10.0
FIGURES = ("accuracy", "brier", "brier_stated", "auc", "auc_stated", "harm", "acted_share", "blocked_share", "cells")
MOST_LINES = 12
