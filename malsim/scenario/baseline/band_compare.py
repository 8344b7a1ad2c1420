"""Comparison of a run with its baseline. Numbers may differ within their bands; text, bits and events must be equal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.base.errors import ScenarioError, nearest
from malsim.scenario.checks.metric_bounds import KEYS, Band, band_of
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
    """Result of comparing a run with its baseline: one row per series and column that left its band, sorted by time.

    Columns of `differences`: frame, series, column, fault (value, missing, unexpected), t (first tick outside, in days),
    expected, got, ticks (number of ticks outside).
    """

    differences: pl.DataFrame

    @property
    def passed(self) -> bool:
        return self.differences.is_empty()

    def __str__(self) -> str:
        lines = [_difference_line(row) for row in self.differences.head(MOST_LINES).to_dicts()]
        more = self.differences.height - MOST_LINES
        return "\n".join([*lines, f"… and {more} more"] if more > 0 else lines) or "all values are inside their bands"


def compare(
    baseline: Mapping[str, pl.DataFrame], run: Mapping[str, pl.DataFrame], bands: Mapping[str, Band] | None = None
) -> Comparison:
    """Compare a run's frames with recorded frames, tick by tick. Events are compared by kind and subject only.

    Each key of `bands` is a signal, a frame and column (`cells.effective`), a column, or `*` for everything else. Raises
    `ScenarioError` if the run lacks a frame or column of the baseline, a key of `bands` does not exist, a value is NaN, or
    two rows have the same tick and series.

    >>> then = pl.DataFrame({"t": [1.0, 2.0, 3.0], "rep": [0, 0, 0], "cell": ["a", "a", "a"], "effective": [0.5, 0.6, 0.7]})
    >>> now = then.with_columns(effective=pl.Series([0.5, 0.6, 0.8]))
    >>> print(compare({"cells": then}, {"cells": now}, {"effective": Band(absolute=0.05)}))
    cells a, replication 0: effective left its band on day 3: expected 0.65 … 0.75, got 0.8 (1 tick)
    """
    if not any(frame.height for frame in baseline.values()):
        raise ScenarioError("the baseline is empty, so nothing can be compared", hint="record it again")
    bands, parts, names = bands or {}, [pl.DataFrame(schema=DIFFERENCES)], {"*"}
    for name, then in baseline.items():
        now = _matching_columns(name, then, run)
        if name == "events":
            parts += _event_differences(then, now)
            continue
        columns = [column for column in now.columns if column not in ("t", *KEYS[name])]
        signals = sorted({*then["signal"], *now["signal"]}) if name == "signals" else [""]
        names |= {*columns, *(f"{name}.{column}" for column in columns), *signals}
        both = _joined(name, then, now)
        for column in columns:
            numeric = then[column].dtype.is_numeric() and now[column].dtype.is_numeric()
            widths = {signal: band_of(bands, name, column, signal) for signal in signals} if numeric else None
            parts.append(_column_differences(name, column, both, widths))
    for unused in sorted(set(bands) - names):
        hint, allowed = nearest(unused, names), ", ".join(sorted(names - {""}))
        raise ScenarioError("no column or signal of the baseline has this name", given=unused, allowed=allowed, hint=hint)
    return Comparison(pl.concat(parts).sort("t", "frame", "series", "column", maintain_order=True))


def _matching_columns(name: str, then: pl.DataFrame, run: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the run's frame with the baseline's columns. Raise `ScenarioError` if a column is missing or has NaN."""
    if name not in KEYS or name not in run:
        raise ScenarioError("the run has no such frame", given=name, allowed=", ".join(sorted(KEYS.keys() & run)))
    columns = list(dict.fromkeys(["t", *KEYS[name], *(then.columns if name != "events" else ())]))
    for side, frame in (("baseline", then), ("run", run[name])):
        for column in columns:
            if column not in frame.columns:
                hint = "the baseline was recorded by another version; record it again"
                raise ScenarioError(f"the {side}'s frame {name} has no column {column}", hint=hint)
            if frame[column].dtype.is_float() and frame[column].is_nan().any():
                raise ScenarioError(
                    f"the {side}'s column {name}.{column} contains NaN", hint="correct the source of the NaN"
                )
    return run[name].select(columns)


def _joined(name: str, then: pl.DataFrame, now: pl.DataFrame) -> pl.DataFrame:
    """Join the baseline's frame and the run's frame on time (ms) and key. The run's columns get the suffix `_now`."""
    keys, at = KEYS[name], (pl.col("t") * DAY).round().cast(pl.Int64).alias("at")
    sides = [frame.with_columns(at, pl.col(keys[1:]).cast(pl.String)) for frame in (then, now)]
    for side, frame in zip(("baseline", "run"), sides, strict=True):
        if frame.select("at", *keys).is_duplicated().any():
            raise ScenarioError(f"the {side} has two rows for the same tick and series", hint="keep one of them")
    both = sides[0].join(sides[1], on=["at", *keys], how="full", nulls_equal=True, coalesce=True, suffix="_now")
    return both.with_columns(pl.coalesce("t", "t_now").alias("t")).sort("at", maintain_order=True)


def _column_differences(name: str, column: str, both: pl.DataFrame, widths: Mapping[str, Band] | None) -> pl.DataFrame:
    """Return one row per series that left its band. Without `widths`, compare the values as text."""
    kind = pl.Float64 if widths else pl.String
    old, new, slack = pl.col(column).cast(kind), pl.col(f"{column}_now").cast(kind), pl.lit(0.0)
    same = old.eq_missing(new)
    if widths:
        signal = pl.col("signal") if name == "signals" else pl.lit("")
        absolute, relative = (
            signal.replace_strict(list(widths), [getattr(band, part) for band in widths.values()], return_dtype=pl.Float64)
            for part in ("absolute", "relative")
        )
        slack = absolute + relative * old.abs()
        same |= ((new - old).abs() <= slack).fill_null(value=False)
    rows = both.select("t", *KEYS[name], old=old, new=new, slack=slack, same=same).filter(~pl.col("same"))
    firsts = rows.group_by(KEYS[name], maintain_order=True).agg(pl.col("t", "old", "new", "slack").first(), ticks=pl.len())
    report = [
        {
            "frame": name, "series": series_label(row), "column": column, "t": row["t"], "ticks": row["ticks"],
            "fault": "missing" if row["new"] is None else "unexpected" if row["old"] is None else "value",
            "expected": _value_text(row["old"], row["slack"]), "got": _value_text(row["new"], 0.0),
        }
        for row in firsts.to_dicts()
    ]  # fmt: skip
    return pl.DataFrame(report, schema=DIFFERENCES)


def _event_differences(then: pl.DataFrame, now: pl.DataFrame) -> Iterator[pl.DataFrame]:
    counts = [frame.group_by("t", *KEYS["events"], maintain_order=True).len("count") for frame in (then, now)]
    both = _joined("events", *counts).with_columns(pl.col("count", "count_now").fill_null(0).cast(pl.Int64))
    day, nothing = pl.format("day {}", pl.col("t").round_sig_figs(6).cast(pl.String).str.strip_suffix(".0")), pl.lit(NOTHING)
    fewer = pl.col("count") - pl.col("count_now")
    for fault, ticks, expected, got in (("missing", fewer, day, nothing), ("unexpected", -fewer, nothing, day)):
        yield both.filter(ticks > 0).select(
            frame=pl.lit("events"), series=pl.format("{}, replication {}", "subject", "rep"), column=pl.col("kind"),
            fault=pl.lit(fault), t=pl.col("t"), expected=expected, got=got, ticks=ticks,
        ).cast(DIFFERENCES)  # type: ignore[arg-type]  # a schema  # fmt: skip


def series_label(series: Mapping[str, Any]) -> str:
    name = series.get("cell") or series.get("writer") or series.get("signal")
    row = f"({series['row']})" if series.get("row") is not None else ""
    return f"{name}{row}, replication {series['rep']}"


def _value_text(value: Any, slack: float) -> str:
    if value is None:
        return NOTHING
    if isinstance(value, str) or slack <= 2e-8 * abs(value):  # the band only allows for rounding to nine digits
        return value if isinstance(value, str) else f"{value:.9g}"
    return f"{value - slack:.6g} … {value + slack:.6g}"


def _difference_line(row: Mapping[str, Any]) -> str:
    ticks = f"{row['ticks']} tick{'s' if row['ticks'] > 1 else ''}"
    fault = "left its band" if row["fault"] == "value" else f"is {row['fault']}"
    values = f"expected {row['expected']}, got {row['got']}"
    return f"{row['frame']} {row['series']}: {row['column']} {fault} on day {row['t']:.6g}: {values} ({ticks})"
