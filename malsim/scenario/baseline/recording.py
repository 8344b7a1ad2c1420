"""Baseline files of a scenario: writing, reading, comparison with a run, and the log of approvals."""

from __future__ import annotations

import getpass
import io
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from polars.exceptions import PolarsError

from malsim.base.errors import ScenarioError
from malsim.base.files.outputs import whole_file
from malsim.base.files.text_files import read_text
from malsim.base.limits import VARIABLE, Limits
from malsim.scenario.baseline.band_compare import Comparison, compare, series_label
from malsim.scenario.checks.metric_bounds import KEYS, band_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.scenario.checks.checks import BaselineCheck
    from malsim.sim.run import Run
    from malsim.sim.settings.scenario import Scenario

LINES = {"panel": pl.String, "t": pl.Float64, "middle": pl.Float64, "low": pl.Float64, "high": pl.Float64}
BANDS = {"panel": pl.String, "t": pl.Float64, "low": pl.Float64, "high": pl.Float64}
MOST_PANELS = 4
MOST_SERIES = 200


def location(run: Run) -> tuple[Path, str]:
    """Return the folder and the base name of a run's baseline. Raise `ScenarioError` if the scenario is not a .toml file."""
    path = Path(run.scenario.path)
    if path.suffix != ".toml":
        problem = "a baseline needs a scenario that is stored in a .toml file"
        raise ScenarioError(problem, given=run.scenario.path, hint="save the scenario as a .toml file")
    return path.parent, path.stem


def recorded_columns(columns: tuple[str, ...], run: Run) -> dict[str, pl.DataFrame]:
    """Return a run's frames, reduced to the given columns. Raise `ScenarioError` if a column does not exist."""
    frames: dict[str, pl.DataFrame] = {}
    for name in KEYS:
        names = [column.partition(".")[2] for column in columns if column.partition(".")[0] == name]
        frame = getattr(run, name)
        for column in names:
            if column and column not in frame.columns:
                allowed = ", ".join(other for other in frame.columns if other not in ("t", *KEYS[name]))
                raise ScenarioError("the run has no such column", given=f"{name}.{column}", allowed=allowed)
        if names:
            frames[name] = frame.select(list(dict.fromkeys(["t", *KEYS[name], *filter(None, names)])))
    return frames


def against_baseline(check: BaselineCheck, run: Run) -> Comparison:
    """Compare a run with its baseline. Raise `ScenarioError` if they have different columns.

    Only the replications of the run are compared.
    """
    then, now = read(*location(run)), recorded_columns(check.columns, run)
    hint = f"record it again: malsim test --approve {run.scenario.path}"
    if {name: frame.columns for name, frame in then.items()} != {name: frame.columns for name, frame in now.items()}:
        allowed = ", ".join(f"{name}.{column}" for name, frame in then.items() for column in frame.columns)
        raise ScenarioError("the recorded columns differ from those in [baseline]", allowed=allowed, hint=hint)
    reps = run.scenario.first, run.scenario.first + run.scenario.replications - 1
    return compare({name: frame.filter(pl.col("rep").is_between(*reps)) for name, frame in then.items()}, now, check.bands)


def band_frames(check: BaselineCheck, run: Run, comparison: Comparison | None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return a run's series and the baseline's bands as frames to plot; series that left their bands come first."""
    lines, bands = pl.DataFrame(schema=LINES), pl.DataFrame(schema=BANDS)
    if comparison is None:
        return lines, bands
    with Limits(baseline=sys.maxsize).hold():  # the size was checked when the baseline was judged
        then = read(*location(run))
    for name, column, label, keys in _series(then, comparison)[:MOST_PANELS]:
        in_series = [pl.col(key).eq_missing(pl.lit(value)) for key, value in keys.items()]
        recorded, now = (frame.filter(in_series).sort("t") for frame in (then[name], getattr(run, name)))
        panel = pl.lit(f"{column} of {name} {label}").alias("panel")
        value = pl.col(column).cast(pl.Float64)
        lines.extend(now.select(panel, "t", value.alias("middle"), value.alias("low"), value.alias("high")))
        band = band_of(check.bands, name, column, str(keys.get("signal", "")))
        slack = band.absolute + band.relative * value.abs()
        bands.extend(recorded.select(panel, "t", (value - slack).alias("low"), (value + slack).alias("high")))
    return lines, bands


def _series(then: Mapping[str, pl.DataFrame], comparison: Comparison) -> list[tuple[str, str, str, dict[str, object]]]:
    outside = set(comparison.differences.select("frame", "series", "column").rows())
    series = [
        (name, column, series_label(keys), keys)
        for name, frame in then.items()
        for keys in frame.select(KEYS[name]).unique(maintain_order=True).head(MOST_SERIES).to_dicts()
        for column in frame.columns
        if column not in ("t", *KEYS[name]) and frame[column].dtype.is_numeric()
    ]
    return sorted(series, key=lambda entry: (entry[0], entry[2], entry[1]) not in outside)


_HEAD = re.compile(r"# malsim baseline 1: (\w+=\w+(?: \w+=\w+)*)\n")
_INTEGERS = (pl.Int64, pl.Int32, pl.Int16, pl.Int8, pl.UInt64, pl.UInt32, pl.UInt16, pl.UInt8)
_TYPES = {str(kind): kind for kind in (pl.Float64, pl.Float32, *_INTEGERS, pl.Boolean, pl.String)}


def write(folder: Path, name: str, frames: Mapping[str, pl.DataFrame]) -> list[Path]:
    """Write each frame (cells, signals, writers, events) to `<name>.<frame>.csv`, with nine significant digits.

    Rows are sorted by time and key to keep diffs of a baseline readable. Raises `ScenarioError` for NaN, and for columns
    of lists or structs.
    """
    paths = []
    for frame, rows in frames.items():
        text = _csv(_checked(frame, rows))
        path = folder / f"{name}.{frame}.csv"
        with whole_file(path) as partial:
            partial.write_bytes(text)
        paths.append(path)
    return paths


def read(folder: Path, name: str) -> dict[str, pl.DataFrame]:
    """Read a baseline's frames. Raise `ScenarioError` if there are none or a file is too large, damaged or a symlink."""
    paths = {frame: folder / f"{name}.{frame}.csv" for frame in KEYS}
    frames = {frame: _read_csv(path) for frame, path in paths.items() if path.exists()}
    if not frames:
        raise ScenarioError(
            "no baseline is recorded", given=str(paths["cells"]), hint="record one with malsim test --approve"
        )
    return frames


def _checked(frame: str, rows: pl.DataFrame) -> pl.DataFrame:
    categories = [name for name, kind in rows.schema.items() if isinstance(kind, pl.Enum | pl.Categorical)]
    rows = rows.with_columns(pl.col(categories).cast(pl.String))
    for name, kind in rows.schema.items():
        if str(kind) not in _TYPES:
            problem = "a baseline can only contain numbers, bits and text"
            raise ScenarioError(problem, where=f"{frame}.{name}", given=str(kind))
        if kind.is_float() and rows[name].is_nan().any():
            raise ScenarioError(
                "a baseline must not contain NaN", where=f"{frame}.{name}", hint="correct the source of the NaN"
            )
    return rows.sort("t", *KEYS[frame], nulls_last=True, maintain_order=True)


def _csv(rows: pl.DataFrame) -> bytes:
    digits = {
        name: pl.Series(np.char.mod("%.9g", rows[name].fill_null(0.0).to_numpy())).set(rows[name].is_null(), None)
        for name, kind in rows.schema.items()
        if kind.is_float()
    }
    head = "# malsim baseline 1: " + " ".join(f"{name}={kind}" for name, kind in rows.schema.items())
    return f"{head}\n{rows.with_columns(**digits).write_csv()}".encode()


def _read_csv(path: Path) -> pl.DataFrame:
    size, most = path.stat().st_size, Limits.current().baseline
    if path.is_symlink() or not path.is_file():
        raise ScenarioError("a baseline must be a regular file", given=str(path), hint="record it again")
    if size > most:
        hint = f"record fewer columns or days, or allow it: {VARIABLE}=baseline={size}"
        raise ScenarioError(
            "the baseline is too large", where=str(path), given=f"{size} bytes", allowed=f"at most {most}", hint=hint
        )
    try:
        text = read_text(path, refused=ScenarioError)
        head = _HEAD.match(text)
        kinds = dict(column.split("=") for column in head[1].split()) if head else {}
        if head is None or not _TYPES.keys() >= set(kinds.values()):
            raise ScenarioError(
                "not a baseline that this version can read", where=f"{path}:1", given=text[:60], hint="record it again"
            )
        schema = {name: _TYPES[kind] for name, kind in kinds.items()}
        rows = pl.read_csv(io.StringIO(text[head.end() :]), schema_overrides=schema)
    except (PolarsError, OSError) as error:
        raise ScenarioError("the baseline cannot be read", where=str(path), hint="record it again") from error
    if rows.columns != list(kinds):
        problem = "the columns differ from those declared in the first line"
        raise ScenarioError(problem, where=f"{path}:2", given=rows.columns, hint="record it again")
    return rows


def record_approval(folder: Path, name: str, columns: tuple[str, ...], comparison: Comparison | None) -> str:
    """Log an approval (approver, time, version, columns) in `NAME.approvals.jsonl`. Return a message for the user."""
    log, by, at = folder / f"{name}.approvals.jsonl", approver(), datetime.now(UTC).isoformat(timespec="seconds")
    moved = "first recorded" if comparison is None else first_difference(comparison)
    entry = {"at": at, "by": by, "malsim": _version(), "columns": list(columns), "moved": moved}
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry, ensure_ascii=False) + "\n")
    return f"approved by {by}, logged in {log}"


def approver() -> str:
    """Return the user's name: from the CI environment, from git, or from the operating system."""
    if actor := os.environ.get("GITHUB_ACTOR") or os.environ.get("GITLAB_USER_LOGIN"):
        return actor
    if git := shutil.which("git"):
        with suppress(OSError):
            done = subprocess.run([git, "config", "user.name"], capture_output=True, text=True, check=False)  # noqa: S603  # git
            if name := done.stdout.strip():
                return name
    with suppress(OSError, KeyError, ImportError):  # in a container, the user may have no name
        return getpass.getuser()
    return "unknown"


def _version() -> str:
    with suppress(PackageNotFoundError):
        return version("malsim")
    return "from source"


def approved_version(scenario: Scenario) -> str:
    """Describe the version and the approver of the last approval; return "" if none is logged or the version is current."""
    path = Path(scenario.path).with_suffix(".approvals.jsonl")
    try:
        last = json.loads(path.read_text(encoding="utf-8").splitlines()[-1])
        then, by = str(last["malsim"]), str(last["by"])
    except (OSError, ValueError, LookupError, TypeError):
        return ""
    now = _version()
    return "" if then == now else f"malsim {then}, approved by {by} (this is malsim {now})"


def series_left(comparison: Comparison) -> str:
    count = comparison.differences.height
    return f"{count} series left {'its' if count == 1 else 'their'} band"


def first_difference(comparison: Comparison) -> str:
    """State how many series left their bands, and describe the first."""
    return f"{series_left(comparison)}, the first: {str(comparison).splitlines()[0]}"
