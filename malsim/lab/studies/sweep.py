"""Parallel sweep of a scenario over many settings. Each point has its own file, so that a sweep can be resumed."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.base.errors import MalsimError, UsageError
from malsim.base.files.outputs import writing
from malsim.base.progress import progress_bar
from malsim.lab.space.design import designed
from malsim.lab.space.settings import changed, scenario_of, setting
from malsim.lab.studies.measure import label_of, measurements_by_running, name_of
from malsim.lab.studies.pool import code_of, executor_of, must_travel, results
from malsim.sim.record.manifest import constants, versions
from malsim.sim.record.measurement import Times

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from malsim.lab.space.design import Design, Given
    from malsim.lab.space.settings import ScenarioOrPath
    from malsim.lab.studies.measure import Measure
    from malsim.showing.plots.style import Sheet
    from malsim.sim.settings.scenario import Scenario

COLUMNS: dict[str, type[pl.DataType]] = {
    "metric": pl.String, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "replications": pl.Int64,
}  # fmt: skip
OF_TIMES: dict[str, type[pl.DataType]] = {"horizon": pl.Float64, "censored": pl.Float64}
SWEPT, WITHOUT_TRUTH = ("brier", "accuracy"), ("challenge_density", "cells")


@dataclass(frozen=True, kw_only=True)
class SweepResult:
    """Finished sweep: its folder, its number of points, and the number of points that this call computed.

    `labels` maps the settings to their names with units; `metrics` has the names of the measures.
    """

    folder: Path
    labels: dict[str, str]
    metrics: tuple[str, ...]
    points: int
    computed: int

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.labels)

    @property
    def lazy(self) -> pl.LazyFrame:
        """Lazy frame of all points: one column per setting, then metric, value, low, high, replications."""
        return pl.scan_parquet(self.folder / "points" / "**" / "*.parquet", hive_partitioning=False)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """Frame of all points, sorted by their settings."""
        return self.lazy.sort(*self.names, maintain_order=True).collect()

    def plot(self, metric: str | None = None, *, x: str | None = None, by: str | None = None, y: str | None = None) -> Sheet:
        """Plot a metric (by default the first) against the settings that vary, which must all be among x, by and y.

        One varying setting is drawn as a line with an interval band; two as a line per value of `by` or as shades over x
        and y.
        """
        from malsim.showing.plots.studies.settings import curves, shades

        metric = metric or self.metrics[0]
        points = self.frame.filter(metric=metric)
        if points.is_empty():
            raise UsageError("no such metric in this sweep", where="plot", given=metric, allowed=", ".join(self.metrics))
        varied = [name for name in self.names if points[name].n_unique() > 1] or list(self.names[:1])
        x = x or varied[0]
        if y is None:
            by = by or next((name for name in varied if name != x), None)
        if not {x, y or x, by or x} <= set(self.names) or not set(varied) <= {x, y, by}:
            problem, hint = "these settings cannot be drawn", "choose two settings, or plot a filtered frame"
            raise UsageError(problem, where="plot", given=[x, y or by], allowed=", ".join(varied), hint=hint)
        style: dict[str, Any] = {"label": label_of(metric), "names": self.labels, "title": f"{points.height} points"}
        return shades(points, x=x, y=y, **style) if y else curves(points, x=x, by=by, **style)


def sweep(
    scenario: ScenarioOrPath,
    given: Given,
    *,
    folder: str | Path | None = None,
    metric: Measure | Sequence[Measure] | None = None,
    executor: Any = None,
    workers: int | None = None,
    progress: bool = True,
) -> SweepResult:
    """Run a scenario at every point of a design, and write each point's measures to a Parquet file.

    Parameters
    ----------
    scenario
        A scenario or the path of its file; each point runs its `replications` on the same random numbers.
    given
        A grid (setting names to values, all combinations), a list of points, or a frame with a row per point, such as
        `design.design` returns; names as in `settings.settings_of`.
    folder
        Folder for points/*/*.parquet (None: out/NAME/sweep), which the workers of a cluster must share. Points already in
        the folder are not computed again, so an interrupted sweep can be resumed.
    metric
        One measure or several; see `measure.measured`. If None, brier and accuracy for a scenario with facts, otherwise
        challenge_density and cells. The folder stores a hash of a function's code; a changed function needs a new folder.
    executor
        Any `concurrent.futures` executor or a Dask client; if None, `workers` new processes (None: one per core), which
        must be able to import the functions you pass.
    progress
        Show a progress bar if stderr is a terminal.

    At most 64 points are pending and only file names are returned, so memory does not grow with the number of points. A
    point's result does not depend on the worker.

    Raises
    ------
    UsageError
        For an invalid design (before anything is run), a folder that holds another sweep, a point that is refused, or a
        worker that died. Finished points are kept.
    """
    scenario = scenario_of(scenario)
    metric = (SWEPT if scenario.facts else WITHOUT_TRUTH) if metric is None else metric
    measures: tuple[Measure, ...] = (metric,) if isinstance(metric, str) or callable(metric) else tuple(metric)
    if not measures:
        raise UsageError("a metric is missing", where="metric", hint='add metric="brier", for example')
    points = designed(given, scenario)
    if executor is None:
        must_travel(*filter(callable, (*measures, scenario.rules.effective)))
    folder = Path(folder or Path("out") / scenario.name / "sweep").resolve()
    open_folder(folder, _card(scenario, points, measures))
    base = replace(scenario, path=str(Path(scenario.path).resolve())) if scenario.path else scenario

    def jobs() -> Iterator[SweepPoint]:
        for settings in points:
            path = folder / "points" / path_of(settings)
            if not path.exists():
                yield SweepPoint(base, settings, measures, path)

    due, title = sum(1 for _ in jobs()), f"sweep of {scenario.name}"
    with (
        executor_of(executor, workers=workers) as pool,
        progress_bar(what=title, unit="point", visible=progress, total=len(points), initial=len(points) - due) as bar,
    ):
        for _ in results(pool, jobs()):
            bar.update()
    labels, names = (
        {name: f"{name} ({setting(name, scenario).unit})" for name in points.names},
        tuple(map(name_of, measures)),
    )
    return SweepResult(folder=folder, labels=labels, metrics=names, points=len(points), computed=due)


def _card(scenario: Scenario, points: Design, metrics: Sequence[Measure]) -> dict[str, Any]:
    """Return a sweep's card, which describes what its points have in common: scenario, settings, metrics and versions."""
    if clash := [name for name in points.names if name in COLUMNS | OF_TIMES]:
        raise UsageError("this setting has the same name as a result column", where="design", given=clash[0])
    return {
        "scenario": scenario.name,
        "identity": identity_of(scenario),
        "settings": sorted(points.names),
        "metrics": [name_of(metric) for metric in metrics],
        "code": {name_of(metric): code_of(metric) for metric in metrics if callable(metric)},
        "versions": versions(),
    }


@dataclass(frozen=True)
class SweepPoint:
    """Job for a worker: run a scenario under the point's settings, measure it, and write the point's file."""

    scenario: Scenario
    settings: dict[str, Any]
    metrics: tuple[Measure, ...]
    path: Path

    def __call__(self) -> str:
        """Run the point, write its file atomically, and return the name of the file.

        The file has one row per metric: the settings, then metric, value, low, high (95 %; null for one replication) and
        replications. Times also have horizon (the longest spell) and censored (the share of spells whose end was not seen);
        value is null if most outlast the horizon. Raises `UsageError` with the settings if a run or metric is refused.
        """
        try:
            results = measurements_by_running(changed(self.scenario, self.settings, where="sweep"), self.metrics)
        except MalsimError as error:
            point = ", ".join(f"{name}={value}" for name, value in self.settings.items())
            raise UsageError(str(error), where=f"the point {point}") from error
        rows = []
        for metric, result in zip(self.metrics, results, strict=True):
            spells = (result.time.horizon, result.time.censored) if result.time else (None, None)
            rows.append((name_of(metric), *result.mean(), result.count, *spells))
        frame = pl.DataFrame(rows, orient="row", schema=COLUMNS | OF_TIMES)
        frame = frame.with_columns(pl.col("value", "low", "high").fill_nan(None))
        frame = frame if any(isinstance(result, Times) for result in results) else frame.drop(OF_TIMES)
        settings = [pl.Series(name, [value] * frame.height) for name, value in self.settings.items()]
        write_whole(pl.DataFrame(settings).hstack(frame), self.path)
        return self.path.name


def path_of(settings: dict[str, Any]) -> str:
    """Return the relative path of a point's file. Two-letter subfolders limit the number of files in a folder.

    >>> path_of({"rules.damping": 0.5})
    '90/90968b484518cd8c9a45.parquet'
    """
    text = json.dumps(settings, sort_keys=True)
    name = hashlib.sha256(text.encode()).hexdigest()[:20]
    return f"{name[:2]}/{name}.parquet"


def write_whole(frame: pl.DataFrame, path: Path) -> None:
    """Write a Parquet file atomically, so that a killed process leaves a complete file or none."""
    with writing(path):
        path.parent.mkdir(exist_ok=True)
        part = path.with_name(f".{path.stem}.{os.getpid()}.part")
        with part.open("wb") as file:
            frame.write_parquet(file)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    for part in path.parent.glob(f".{path.stem}.*.part"):  # a killed process leaves its partial file behind
        part.unlink(missing_ok=True)


def open_folder(folder: Path, about: Mapping[str, Any]) -> None:
    """Create a sweep's folder with its card, sweep.json, or check that the existing card matches.

    Raises `UsageError` with the differences, and leaves the folder unchanged.
    """
    card = folder / "sweep.json"
    if card.exists():
        before = json.loads(card.read_text(encoding="utf-8"))
        differences = [
            _difference(key, before.get(key, {}), now) for key, now in about.items() if before.get(key, {}) != now
        ]
        if differences:
            problem = f"this folder contains another sweep, which differs in {', '.join(differences)}"
            raise UsageError(problem, where=str(folder), hint="choose another folder, or delete this folder")
        return
    (folder / "points").mkdir(parents=True, exist_ok=True)
    part = folder / f".sweep.{os.getpid()}.part"
    part.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    part.replace(card)


def _difference(key: str, before: object, now: object) -> str:
    """Return the name of a card entry that differs or, for code, the names of the functions whose bodies differ."""
    if key != "code" or not isinstance(before, dict) or not isinstance(now, dict) or set(before) != set(now):
        return key
    return f"body of {', '.join(name for name in now if now[name] != before[name])}"


def identity_of(scenario: Scenario) -> str:
    """Return a hash of everything that affects a scenario's run. Its checks and the path of its file are left out."""
    apart = {"claims", "rules", "checks", "text", "path", "why", "initial_memory", "netlist"}
    settings = {field.name: getattr(scenario, field.name) for field in fields(scenario) if field.name not in apart}
    parts = [repr(sorted(settings.items())), repr(constants(scenario.rules)), scenario.claims.write_ndjson()]
    if scenario.netlist:
        parts.append(f"{scenario.netlist.text}{scenario.netlist.derive}{scenario.netlist.inputs}")
    if start := scenario.initial_memory:
        parts.append(f"{start.now}")
        memories = [memory for memory in (start.memory, start.lender) if memory]
        parts += [memory.cells.write_ndjson() + memory.edges.write_ndjson() for memory in memories]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
