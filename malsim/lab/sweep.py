"""One scenario over many settings, in many processes: a file a point, so that what is finished stays finished."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import multiprocessing
import os
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, ProcessPoolExecutor, wait
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.errors import MalsimError, UsageError
from malsim.lab.measure import Measure, interval, measured
from malsim.sim import bench
from malsim.sim.script import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Future

__all__ = ["Point", "Swept", "points_of", "sweep"]

SETTINGS = ("days", "seed", "turn_every", "replications", "first")
IN_FLIGHT = 4


@dataclass(frozen=True)
class Swept:
    """A finished sweep: its folder, how many points it has, and how many of them this call computed."""

    folder: Path
    points: int
    computed: int

    @property
    def frame(self) -> pl.LazyFrame:
        """Every point, lazily: a column a setting, then metric, value, low, high, replications."""
        return pl.scan_parquet(self.folder / "points" / "*.parquet")


@dataclass(frozen=True)
class Point:
    """One point to compute: a scenario, the settings that made it, what to measure, and where to write it."""

    scenario: Scenario
    settings: dict[str, Any]
    metrics: tuple[Measure, ...]
    path: Path

    def __call__(self) -> str:
        """Run it and write its file whole or not at all; returns the file's name."""
        run = bench.run(self.scenario)
        if self.metrics:
            rows = [_row(measure, measured(run, measure)) for measure in self.metrics]
            found = pl.DataFrame(rows, orient="row", schema=_COLUMNS)
        else:
            found = run.metrics().select(_COLUMNS)
        made = found.select(*(pl.lit(value).alias(name) for name, value in self.settings.items()), pl.all())
        part = self.path.with_name(f".{self.path.stem}.{os.getpid()}.part")
        made.with_columns(pl.col("value", "low", "high").fill_nan(None)).write_parquet(part)
        part.replace(self.path)
        return self.path.name


_COLUMNS = {"metric": pl.String, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "replications": pl.Int64}


def sweep(
    scenario: Scenario,
    design: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]] | pl.DataFrame,
    folder: str | Path,
    *,
    metrics: Sequence[Measure] = (),
    executor: Executor | None = None,
    workers: int | None = None,
    progress: bool = False,
) -> Swept:
    """Run a scenario at every point of a design, each point's figures to a file of its own.

    Parameters
    ----------
    design
        A grid, from names to values, all combinations; or a list of points or a frame, one row a point. Names are
        `rules.NAME`, days, seed, turn_every, replications, first.
    folder
        Where points/*.parquet go. What it already holds of this sweep is not computed again.
    metrics
        Names of figures, properties or functions; every figure of the run if none.
    executor
        Any `concurrent.futures` executor, such as a Dask client's `get_executor()`; `workers` new processes if None (as
        many as there are cores, if None), started afresh, so that it works in a notebook as in a script.

    Points are computed a few at a time, and only their names come back: memory does not grow with their number. A point is
    the same whichever worker computes it. If a worker of the default executor dies, what is finished stays, and
    `UsageError` says to run the same again.
    """
    folder = Path(folder)
    _opened(folder, scenario, design, metrics)
    done = {path.name for path in (folder / "points").glob("*.parquet")}
    total, due = _counted(scenario, design, folder, metrics, done)
    with _executor(executor, workers) as pool:
        waiting = points_of(scenario, design, folder, metrics, done)
        computed = _drained(pool, waiting, _bar(total, total - due, progress=progress))
    return Swept(folder, total, computed)


def points_of(
    scenario: Scenario, design: Any, folder: Path, metrics: Sequence[Measure] = (), done: Iterable[str] = ()
) -> Iterator[Point]:
    """The points of a design that are not among the file names done, made one by one."""
    held = set(done)
    for settings in _settings(design):
        made = _changed(scenario, settings)
        name = hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode()).hexdigest()[:20] + ".parquet"
        if name not in held:
            held.add(name)
            yield Point(made, settings, tuple(metrics), folder / "points" / name)


def _settings(design: Any) -> Iterator[dict[str, Any]]:
    if isinstance(design, pl.DataFrame):
        for part in design.iter_slices(1000):
            yield from part.to_dicts()
    elif isinstance(design, dict):
        for values in itertools.product(*design.values()):
            yield dict(zip(design, values, strict=True))
    else:
        yield from (dict(point) for point in design)


def _counted(
    scenario: Scenario, design: Any, folder: Path, metrics: Sequence[Measure], done: set[str]
) -> tuple[int, int]:
    """How many points there are and how many are due; raises for a design that is empty or holds a bad setting."""
    total = sum(1 for _ in points_of(scenario, design, folder, metrics))
    if not total:
        raise UsageError("a design without a point", where="sweep", hint='such as {"rules.challenge_ceiling": [0.3, 0.6]}')
    return total, sum(1 for _ in points_of(scenario, design, folder, metrics, done))


def _changed(scenario: Scenario, settings: Mapping[str, Any]) -> Scenario:
    rules = {name.removeprefix("rules."): value for name, value in settings.items() if name.startswith("rules.")}
    rest = {name: value for name, value in settings.items() if not name.startswith("rules.")}
    for name in rest:
        if name not in SETTINGS:
            known = [f"rules.{rule.name}" for rule in fields(scenario.rules)]
            near = get_close_matches(name, [*SETTINGS, *known], n=2) or ["rules.NAME"]
            raise UsageError("unknown setting", where="sweep", given=name, hint=f"try {' or '.join(near)}")
    return scenario.replace(rules=scenario.rules.replace(where="sweep", **rules), **rest)


def _opened(folder: Path, scenario: Scenario, design: Any, metrics: Sequence[Measure]) -> None:
    """Make the folder, or check that it holds the same scenario's points; sweep away parts that were never finished."""
    (folder / "points").mkdir(parents=True, exist_ok=True)
    first = next(_settings(design), {})
    named = sorted(measure if isinstance(measure, str) else getattr(measure, "__qualname__", "function") for measure in metrics)
    about = {"scenario": _identity(scenario), "settings": sorted(first), "metrics": named}
    card = folder / "sweep.json"
    if card.exists() and json.loads(card.read_text(encoding="utf-8")) != about:
        hint = "give another folder, or remove this one"
        raise UsageError("this folder holds another sweep", where=str(folder), given=scenario.name, hint=hint)
    part = folder / f".sweep.{os.getpid()}.part"
    part.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    part.replace(card)
    for left in (folder / "points").glob(".*.part"):
        left.unlink(missing_ok=True)


def _identity(scenario: Scenario) -> str:
    """A hash of all that a scenario is, but for the claims' order of columns."""
    told = {one.name: getattr(scenario, one.name) for one in fields(scenario) if one.name not in ("claims", "path")}
    text = repr(sorted(told.items())) + scenario.claims.write_ndjson()
    return hashlib.sha256(text.encode()).hexdigest()


@contextlib.contextmanager
def _executor(given: Executor | None, workers: int | None) -> Iterator[Executor]:
    if given is not None:
        yield given
        return
    spawn = multiprocessing.get_context("spawn")  # a forked polars may wait for a lock that no thread holds
    with ProcessPoolExecutor(workers, mp_context=spawn) as pool:
        yield pool


def _drained(pool: Executor, waiting: Iterator[Point], bar: Any) -> int:
    """Keep a few points in flight until all are done."""
    flying: set[Future[str]] = set()
    computed, most = 0, IN_FLIGHT * (os.cpu_count() or 1)
    try:
        while True:
            flying |= {pool.submit(point) for point in itertools.islice(waiting, most - len(flying))}
            if not flying:
                return computed
            finished, flying = wait(flying, return_when=FIRST_COMPLETED)
            for one in finished:
                one.result()
                computed += 1
                bar.update()
    except BrokenExecutor as error:
        hint = "what is finished is kept: run the same sweep again"
        raise UsageError("a worker died", where="sweep", given=f"{computed} points done", hint=hint) from error
    except MalsimError:
        for one in flying:
            one.cancel()
        raise
    finally:
        bar.close()


def _row(measure: Measure, each: np.ndarray[Any, np.dtype[np.float64]]) -> tuple[str, float, float, float, int]:
    name = measure if isinstance(measure, str) else getattr(measure, "__name__", "metric")
    return name, *interval(each), int((~np.isnan(each)).sum())


def _bar(total: int, done: int, *, progress: bool) -> Any:
    from tqdm.auto import tqdm

    return tqdm(total=total, initial=done, desc="sweep", unit="point", disable=not progress)
