"""Recorded frames against a baseline: each value within a tube round it, in value and in time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.base.errors import ScenarioError, nearest
from malsim.scenario.baseline.tube_events import event_differences
from malsim.scenario.baseline.tube_series import series_differences
from malsim.scenario.checks.tube import KEYS, Tube, tube_of

if TYPE_CHECKING:
    from collections.abc import Mapping

DIFFERENCES = {
    "frame": pl.String, "series": pl.String, "column": pl.String, "fault": pl.String, "t": pl.Float64,
    "expected": pl.String, "got": pl.String, "shift": pl.Float64, "ticks": pl.Int64,
}  # fmt: skip
MOST_LINES = 20


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """What left its tube.

    Parameters
    ----------
    differences
        One row a series and column, in the order of time: frame, series, column, fault (value, early, late, missing,
        unexpected), t (days, of the first tick outside), expected, got, shift (days late; negative is early), ticks (how
        many are outside).
    """

    differences: pl.DataFrame

    @property
    def passed(self) -> bool:
        """Whether everything stayed inside."""
        return self.differences.is_empty()

    def __str__(self) -> str:
        """A line a difference, at most twenty."""
        lines = [_line(row) for row in self.differences.head(MOST_LINES).to_dicts()]
        more = self.differences.height - MOST_LINES
        return "\n".join([*lines, f"… and {more} more"] if more > 0 else lines) or "everything is inside its tube"


def compare(
    baseline: Mapping[str, pl.DataFrame], run: Mapping[str, pl.DataFrame], tubes: Mapping[str, Tube] | None = None
) -> Comparison:
    """Compare a run's frames with recorded ones.

    Parameters
    ----------
    baseline
        Frames by name (cells, signals, writers, events); their columns are the ones compared, but of events only when what
        happened to whom.
    run
        The same frames, now.
    tubes
        By frame and column (`cells.effective`), column, signal, or kind of event; `*` is for all else, which has no
        tolerance but the digits of a baseline.

    Raises
    ------
    ScenarioError
        If a frame or column of the baseline is not in the run, a tube names nothing, a value is NaN, two rows say the same,
        or a lag leaves nothing to compare.

    >>> then = pl.DataFrame({"t": [1.0, 2.0, 3.0], "rep": [0, 0, 0], "cell": ["a", "a", "a"], "effective": [0.5, 0.6, 0.7]})
    >>> now = then.with_columns(effective=pl.Series([0.5, 0.6, 0.8]))
    >>> print(compare({"cells": then}, {"cells": now}, {"effective": Tube(absolute=0.05)}))
    cells a, replication 0: effective left its tube on day 3: expected 0.65 … 0.75, got 0.8 (1 tick)
    """
    if not any(frame.height for frame in baseline.values()):
        raise ScenarioError("the baseline is empty, so nothing can be compared", hint="record it again")
    tubes, rows, names = tubes or {}, [], {"*"}
    for name, then in baseline.items():
        now = _fitting(name, then, run)
        names |= _names(name, then, now)
        differences = event_differences if name == "events" else series_differences
        rows += [{"frame": name} | row for row in differences(then, now, KEYS[name], partial(tube_of, tubes, name))]
    for unused in sorted(set(tubes) - names):
        hint, allowed = nearest(unused, names), ", ".join(sorted(names))
        raise ScenarioError("this tube names nothing compared", given=unused, allowed=allowed, hint=hint)
    return Comparison(pl.DataFrame(rows, schema=DIFFERENCES).sort("t", "frame", "series", "column", maintain_order=True))


def _fitting(name: str, then: pl.DataFrame, run: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """The run's frame of a name, with the baseline's columns; words are strings in both."""
    if name not in KEYS or name not in run:
        raise ScenarioError("the run has no such frame", given=name, allowed=", ".join(sorted(KEYS.keys() & run)))
    columns = ["t", *KEYS[name]] if name == "events" else list(dict.fromkeys(["t", *KEYS[name], *then.columns]))
    for side, frame in (("baseline", then), ("run", run[name])):
        for column in columns:
            if column not in frame.columns:
                hint = "the baseline is of another version; record it again"
                raise ScenarioError(f"the {side}'s frame {name} has no column {column}", hint=hint)
            if frame[column].dtype.is_float() and frame[column].is_nan().any():
                raise ScenarioError(f"the {side}'s column {name}.{column} holds NaN", hint="mend what gives NaN")
    return run[name].select(columns)


def _names(name: str, then: pl.DataFrame, now: pl.DataFrame) -> set[str]:
    """What a tube may be for, in a frame."""
    if name == "events":
        return {name, *then["kind"].to_list(), *now["kind"].to_list()}
    columns = [column for column in now.columns if column not in ("t", *KEYS[name])]
    signals = {*then["signal"].to_list(), *now["signal"].to_list()} if name == "signals" else set()
    return {*columns, *(f"{name}.{column}" for column in columns), *signals}


def _line(row: Mapping[str, Any]) -> str:
    days = f" ({abs(row['shift']):.6g} days {'late' if row['shift'] > 0 else 'early'})" if row["shift"] else ""
    ticks = f"{row['ticks']} tick{'s' if row['ticks'] > 1 else ''}"
    fault = "left its tube" if row["fault"] == "value" else f"is {row['fault']}{days}"
    values = f"expected {row['expected']}, got {row['got']}"
    return f"{row['frame']} {row['series']}: {row['column']} {fault} on day {row['t']:.6g}: {values} ({ticks})"
