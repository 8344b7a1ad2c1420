"""Comparison of a run's frames with recorded frames: numbers within their bands; words, bits and events equal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.base.errors import ScenarioError, nearest
from malsim.scenario.checks.band import KEYS, Band, band_of
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DIFFERENCES = {
    "frame": pl.String, "series": pl.String, "column": pl.String, "fault": pl.String, "t": pl.Float64,
    "expected": pl.String, "got": pl.String, "ticks": pl.Int64,
}  # fmt: skip
MOST_LINES = 20
NOTHING = "nothing"


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Series that left their bands, one row a series and column, in order of time.

    Columns of `differences`: frame, series, column, fault (value, missing, unexpected), t (days, first tick outside),
    expected, got, ticks (number outside).
    """

    differences: pl.DataFrame

    @property
    def passed(self) -> bool:
        return self.differences.is_empty()

    def __str__(self) -> str:
        lines = [_line(row) for row in self.differences.head(MOST_LINES).to_dicts()]
        more = self.differences.height - MOST_LINES
        return "\n".join([*lines, f"… and {more} more"] if more > 0 else lines) or "everything is inside its band"


def compare(
    baseline: Mapping[str, pl.DataFrame], run: Mapping[str, pl.DataFrame], bands: Mapping[str, Band] | None = None
) -> Comparison:
    """Compare a run's frames with recorded ones, tick by tick; of events only kind and subject.

    `bands` are by signal, by frame and column (`cells.effective`), or by column; `*` is for all else. Raises
    `ScenarioError` if a frame or column of the baseline is not in the run, a band names nothing, a value is NaN, or two
    rows have the same tick and series.

    >>> then = pl.DataFrame({"t": [1.0, 2.0, 3.0], "rep": [0, 0, 0], "cell": ["a", "a", "a"], "effective": [0.5, 0.6, 0.7]})
    >>> now = then.with_columns(effective=pl.Series([0.5, 0.6, 0.8]))
    >>> print(compare({"cells": then}, {"cells": now}, {"effective": Band(absolute=0.05)}))
    cells a, replication 0: effective left its band on day 3: expected 0.65 … 0.75, got 0.8 (1 tick)
    """
    if not any(frame.height for frame in baseline.values()):
        raise ScenarioError("the baseline is empty, so nothing can be compared", hint="record it again")
    bands, parts, names = bands or {}, [pl.DataFrame(schema=DIFFERENCES)], {"*"}
    for name, then in baseline.items():
        now = _fitting(name, then, run)
        names |= _names(name, then, now)
        parts += _event_differences(then, now) if name == "events" else _series_differences(name, then, now, bands)
    for unused in sorted(set(bands) - names):
        hint, allowed = nearest(unused, names), ", ".join(sorted(names))
        raise ScenarioError("no such column or signal is compared", given=unused, allowed=allowed, hint=hint)
    return Comparison(pl.concat(parts).sort("t", "frame", "series", "column", maintain_order=True))


def _fitting(name: str, then: pl.DataFrame, run: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    if name not in KEYS or name not in run:
        raise ScenarioError("the run has no such frame", given=name, allowed=", ".join(sorted(KEYS.keys() & run)))
    columns = ["t", *KEYS[name]] if name == "events" else list(dict.fromkeys(["t", *KEYS[name], *then.columns]))
    for side, frame in (("baseline", then), ("run", run[name])):
        for column in columns:
            if column not in frame.columns:
                hint = "the baseline is of another version; record it again"
                raise ScenarioError(f"the {side}'s frame {name} has no column {column}", hint=hint)
            if frame[column].dtype.is_float() and frame[column].is_nan().any():
                raise ScenarioError(f"the {side}'s column {name}.{column} holds NaN", hint="correct the source of the NaN")
    return run[name].select(columns)


def _names(name: str, then: pl.DataFrame, now: pl.DataFrame) -> set[str]:
    if name == "events":
        return set()
    columns = [column for column in now.columns if column not in ("t", *KEYS[name])]
    signals = {*then["signal"].to_list(), *now["signal"].to_list()} if name == "signals" else set()
    return {*columns, *(f"{name}.{column}" for column in columns), *signals}


def _sides(name: str, then: pl.DataFrame, now: pl.DataFrame) -> pl.DataFrame:
    """Return both frames in one, joined by millisecond and key; the run's columns end in `_now`."""
    keys, at = KEYS[name], (pl.col("t") * DAY).round().cast(pl.Int64).alias("at")
    sides = [frame.with_columns(at, pl.col(keys[1:]).cast(pl.String)) for frame in (then, now)]
    for side, frame in zip(("baseline", "run"), sides, strict=True):
        if frame.select("at", *keys).is_duplicated().any():
            raise ScenarioError(f"two rows of the {side} are for one tick of one series", hint="keep one of them")
    both = sides[0].join(sides[1], on=["at", *keys], how="full", nulls_equal=True, coalesce=True, suffix="_now")
    return both.with_columns(pl.coalesce("t", "t_now").alias("t")).sort("at", maintain_order=True)


def _series_differences(
    name: str, then: pl.DataFrame, now: pl.DataFrame, bands: Mapping[str, Band]
) -> Iterator[pl.DataFrame]:
    both = _sides(name, then, now)
    signals = both["signal"].unique().to_list() if name == "signals" else [""]
    for column in (item for item in now.columns if item not in ("t", *KEYS[name])):
        old, new = pl.col(column), pl.col(f"{column}_now")
        if then[column].dtype.is_numeric() and now[column].dtype.is_numeric():
            own = [band_of(bands, name, column, signal) for signal in signals]
            widths = [pl.Series([getattr(band, part) for band in own]) for part in ("absolute", "relative")]
            which = pl.col("signal").replace_strict(signals, range(len(signals))) if name == "signals" else pl.lit(0)
            absolute, relative = (pl.lit(width).gather(which) for width in widths)
            slack = absolute + relative * old.cast(pl.Float64).abs()
            inside = (new.cast(pl.Float64) - old.cast(pl.Float64)).abs() <= slack
            rows = both.with_columns(slack=slack).filter(~(old.eq_missing(new) | inside.fill_null(value=False)))
        else:
            words = both.with_columns(pl.col(column, f"{column}_now").cast(pl.String), slack=pl.lit(0.0))
            rows = words.filter(~old.eq_missing(new))
        yield _reported(name, column, rows.rename({column: "old", f"{column}_now": "new"}))


def _reported(name: str, column: str, rows: pl.DataFrame) -> pl.DataFrame:
    firsts = rows.group_by(KEYS[name], maintain_order=True).agg(pl.col("t", "old", "new", "slack").first(), ticks=pl.len())
    report = [
        {
            "frame": name, "series": series_label(row), "column": column, "t": row["t"], "ticks": row["ticks"],
            "fault": "missing" if row["new"] is None else "unexpected" if row["old"] is None else "value",
            "expected": _text(row["old"], row["slack"]), "got": _text(row["new"], 0.0),
        }
        for row in firsts.to_dicts()
    ]  # fmt: skip
    return pl.DataFrame(report, schema=DIFFERENCES)


def _event_differences(then: pl.DataFrame, now: pl.DataFrame) -> Iterator[pl.DataFrame]:
    keys = KEYS["events"]
    counts = [frame.group_by("t", *keys, maintain_order=True).len("count") for frame in (then, now)]
    both = _sides("events", *counts).with_columns(pl.col("count", "count_now").fill_null(0).cast(pl.Int64))
    day, nothing = pl.format("day {}", pl.col("t").round_sig_figs(6).cast(pl.String).str.strip_suffix(".0")), pl.lit(NOTHING)
    fewer = pl.col("count") - pl.col("count_now")
    for fault, more in (("missing", fewer), ("unexpected", -fewer)):
        rows = both.with_columns(ticks=more).filter(pl.col("ticks") > 0)
        expected, got = (day, nothing) if fault == "missing" else (nothing, day)
        series = pl.format("{}, replication {}", "subject", "rep")
        yield rows.select(
            frame=pl.lit("events"), series=series, column=pl.col("kind"), fault=pl.lit(fault), t=pl.col("t"),
            expected=expected, got=got, ticks=pl.col("ticks"),
        ).cast(DIFFERENCES)  # type: ignore[arg-type]  # a schema  # fmt: skip


def series_label(series: Mapping[str, Any]) -> str:
    name = series.get("cell") or series.get("writer") or series.get("signal")
    row = f"({series['row']})" if series.get("row") is not None else ""
    return f"{name}{row}, replication {series['rep']}"


def _text(value: Any, slack: float) -> str:
    if value is None:
        return NOTHING
    if isinstance(value, str) or slack <= 2e-8 * abs(value):  # equal to nine digits
        return value if isinstance(value, str) else f"{value:.9g}"
    return f"{value - slack:.6g} … {value + slack:.6g}"


def _line(row: Mapping[str, Any]) -> str:
    ticks = f"{row['ticks']} tick{'s' if row['ticks'] > 1 else ''}"
    fault = "left its band" if row["fault"] == "value" else f"is {row['fault']}"
    values = f"expected {row['expected']}, got {row['got']}"
    return f"{row['frame']} {row['series']}: {row['column']} {fault} on day {row['t']:.6g}: {values} ({ticks})"
