"""Folder of a sweep: a card that identifies the sweep, and a file per point, written atomically."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.base.errors import MalsimError, UsageError
from malsim.base.files.outputs import writing
from malsim.lab.space.settings import changed
from malsim.lab.studies.measure import measurements_by_running, name_of
from malsim.sim.record.manifest import constants
from malsim.sim.record.measurement import Times

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from malsim.lab.studies.measure import Measure
    from malsim.sim.settings.scenario import Scenario

COLUMNS: dict[str, type[pl.DataType]] = {
    "metric": pl.String, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "replications": pl.Int64,
}  # fmt: skip
OF_TIMES: dict[str, type[pl.DataType]] = {"horizon": pl.Float64, "censored": pl.Float64}


@dataclass(frozen=True)
class SweepPoint:
    """Job of a worker: run a scenario under some settings, measure it, and write the file of the point."""

    scenario: Scenario
    settings: dict[str, Any]
    metrics: tuple[Measure, ...]
    path: Path

    def __call__(self) -> str:
        """Run the point and write its file atomically; return the name of the file.

        The file has one row per metric: the settings, then metric, value, low, high (95 %; null for one replication) and
        replications. For times it also has horizon (the longest spell) and censored (the share of spells whose end was not
        seen); value is null if more than half are censored. Raises `UsageError` naming the settings if a run or a metric is
        refused.
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
    """Return the path of a point's file, in a subfolder of its first two letters so that no folder grows too long.

    >>> path_of({"rules.damping": 0.5})
    '90/90968b484518cd8c9a45.parquet'
    """
    text = json.dumps(settings, sort_keys=True)
    name = hashlib.sha256(text.encode()).hexdigest()[:20]
    return f"{name[:2]}/{name}.parquet"


def write_whole(frame: pl.DataFrame, path: Path) -> None:
    """Write a Parquet file atomically: if the process is killed, the file is complete or absent."""
    with writing(path):
        path.parent.mkdir(exist_ok=True)
        part = path.with_name(f".{path.stem}.{os.getpid()}.part")
        with part.open("wb") as file:
            frame.write_parquet(file)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    for part in path.parent.glob(f".{path.stem}.*.part"):  # left behind by a killed process
        part.unlink(missing_ok=True)


def open_folder(folder: Path, about: Mapping[str, Any]) -> None:
    """Create a sweep's folder with its card, sweep.json, or check that the existing card is the same.

    Raises `UsageError` naming the differences, without changing the folder.
    """
    card = folder / "sweep.json"
    if card.exists():
        before = json.loads(card.read_text(encoding="utf-8"))
        differences = [
            _difference(key, before.get(key, {}), now) for key, now in about.items() if before.get(key, {}) != now
        ]
        if differences:
            given, hint = f"other {', '.join(differences)}", "choose another folder, or remove this one"
            raise UsageError("this folder holds another sweep", where=str(folder), given=given, hint=hint)
        return
    (folder / "points").mkdir(parents=True, exist_ok=True)
    part = folder / f".sweep.{os.getpid()}.part"
    part.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    part.replace(card)


def _difference(key: str, before: object, now: object) -> str:
    """Return the name of an entry of the card; for code, the names of the functions whose bodies differ."""
    if key != "code" or not isinstance(before, dict) or not isinstance(now, dict) or set(before) != set(now):
        return key
    return f"body of {', '.join(name for name in now if now[name] != before[name])}"


def identity_of(scenario: Scenario) -> str:
    """Return a hash of everything that determines a scenario's run, which excludes its checks and its file's path."""
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
