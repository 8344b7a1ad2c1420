"""Recording of a run as its scenario's baseline, and comparison of a later run with it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from malsim.base.errors import ScenarioError
from malsim.base.limits import Limits
from malsim.scenario.baseline import storage
from malsim.scenario.baseline.band_compare import Comparison, compare, series_label
from malsim.scenario.checks.band import KEYS, band_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.scenario.checks.checks import BaselineCheck
    from malsim.sim.run import Run

LINES = {"panel": pl.String, "t": pl.Float64, "middle": pl.Float64, "low": pl.Float64, "high": pl.Float64}
BANDS = {"panel": pl.String, "t": pl.Float64, "low": pl.Float64, "high": pl.Float64}
MOST_PANELS = 4
MOST_SERIES = 200


def place(run: Run) -> tuple[Path, str]:
    """Return the folder and the name under which a run's baseline is recorded: beside its scenario's file."""
    path = Path(run.scenario.path)
    if path.suffix != ".toml":
        raise ScenarioError("a baseline is kept beside a scenario's file", given=run.scenario.path, hint="save the scenario")
    return path.parent, path.stem


def recorded_columns(columns: tuple[str, ...], run: Run) -> dict[str, pl.DataFrame]:
    frames: dict[str, pl.DataFrame] = {}
    for name in KEYS:
        names = [column.partition(".")[2] for column in columns if column.partition(".")[0] == name]
        frame = getattr(run, name)
        for column in names:
            if column and column not in frame.columns:
                allowed = ", ".join(each for each in frame.columns if each not in ("t", *KEYS[name]))
                raise ScenarioError("the run has no such column", given=f"{name}.{column}", allowed=allowed)
        if names:
            frames[name] = frame.select(list(dict.fromkeys(["t", *KEYS[name], *filter(None, names)])))
    return frames


def against_baseline(check: BaselineCheck, run: Run) -> Comparison:
    """Compare a run with what was recorded, in the replications it has.

    Raises
    ------
    ScenarioError
        If nothing is recorded, or not the columns now asked for, or for none of these replications.
    """
    then, now = storage.read(*place(run)), recorded_columns(check.columns, run)
    hint = f"record it: malsim test --approve {run.scenario.path}"
    if {name: frame.columns for name, frame in then.items()} != {name: frame.columns for name, frame in now.items()}:
        allowed = ", ".join(f"{name}.{column}" for name, frame in then.items() for column in frame.columns)
        raise ScenarioError("the baseline holds other columns than are asked for", allowed=allowed, hint=hint)
    reps = run.scenario.first, run.scenario.first + run.scenario.replications - 1
    return compare({name: frame.filter(pl.col("rep").is_between(*reps)) for name, frame in then.items()}, now, check.bands)


def band_frames(check: BaselineCheck, run: Run, comparison: Comparison | None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return lines (panel, t, middle, low, high) and bands (panel, t, low, high) of a few series, those outside first."""
    lines, bands = pl.DataFrame(schema=LINES), pl.DataFrame(schema=BANDS)
    if comparison is None:
        return lines, bands
    with Limits(baseline=sys.maxsize).hold():  # the baseline was within its limits when judged
        then = storage.read(*place(run))
    for name, column, label, keys in _series(then, comparison)[:MOST_PANELS]:
        key = [pl.col(each).eq_missing(pl.lit(value)) for each, value in keys.items()]
        recorded, now = then[name].filter(key).sort("t"), getattr(run, name).filter(key).sort("t")
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
    return sorted(series, key=lambda each: (each[0], each[2], each[1]) not in outside)
