"""Log of claim lifetimes, read from a frame and validated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.errors import DataError, UsageError

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Array, Bools

FEWEST = 10
# columns of a log from `histories`, which contains the value and time of every claim
SIGHTED = {"rep", "object", "value", "start", "restated", "until"}
_INTERVALS = "after and before, or duration and ended"


@dataclass(frozen=True, eq=False)
class Log:
    """Claim lifetimes as ages in days: last true at `after`, ended by `before` (infinity: still true), seen from `entered`.

    `entered` is NaN if the age at the first sighting is unknown.
    """

    after: Array
    before: Array
    entered: Array

    @property
    def of_known_age(self) -> Log:
        """Lifetimes for which the age at the first sighting is known."""
        mask = ~np.isnan(self.entered)
        return Log(self.after[mask], self.before[mask], self.entered[mask])

    @property
    def ended(self) -> Bools:
        return np.isfinite(self.before)

    @property
    def duration(self) -> Array:
        """Observed duration of each lifetime, or the midpoint if the lifetime ended between two ages."""
        return np.where(self.ended, (self.after + np.where(self.ended, self.before, 0.0)) / 2.0, self.after)

    def __len__(self) -> int:
        return len(self.after)


def read_log(log: pl.DataFrame, *, floor: float | None) -> Log:
    """Read the lifetimes of claims from a frame (see `fit_decay`). A null in `entered` becomes NaN.

    A lifetime that ended at age 0 is read as ended after half of the shortest other duration, because a density may be
    infinite at 0. Raises `DataError` for a malformed log, `UsageError` for a floor out of bounds.
    """
    if floor is not None and not 0.0 <= floor < 1.0:
        raise UsageError("out of bounds", where="fit_decay: floor", given=floor, allowed="0 to below 1, or None")
    after, before = _intervals(log) if {"after", "before"} <= set(log.columns) else _durations(log)
    entered = _numbers(log, "entered", unknown=True) if "entered" in log.columns else np.zeros(log.height)
    late = entered > np.where(np.isfinite(before), np.minimum(after, before), after)
    if late.any():
        row = int(late.argmax())
        where, allowed = f"fit_decay: entered, row {row}", f"0 to {after[row]}"
        raise DataError("the claim was first seen after it was last seen", where=where, given=entered[row], allowed=allowed)
    positive = np.concatenate([after, before[np.isfinite(before)]])
    positive = positive[positive > 0.0]
    if not positive.size and not log.is_empty() and not set(log.columns) >= SIGHTED:
        raise DataError("every duration is 0", where="fit_decay: duration", allowed="at least one duration above 0")
    at_once = before == 0.0
    shortest = positive.min() / 2.0 if positive.size else 0.0
    return Log(np.where(at_once, shortest, after), np.where(at_once, shortest, before), entered)


def _durations(log: pl.DataFrame) -> tuple[Array, Array]:
    """Return the bounds of each lifetime, read from the columns `duration` and `ended`."""
    if missing := [name for name in ("duration", "ended") if name not in log.columns]:
        given, hint = ", ".join(log.columns), f"add {' and '.join(missing)}"
        raise DataError("columns are missing", where="fit_decay", given=given, allowed=_INTERVALS, hint=hint)
    if log.height < FEWEST:
        raise DataError("too few claims to fit", where="fit_decay", given=log.height, allowed=f"{FEWEST} or more")
    duration = _numbers(log, "duration")
    if log["ended"].dtype != pl.Boolean or log["ended"].null_count():
        given, allowed = str(log["ended"].dtype), "Booleans without nulls"
        raise DataError("every value must be true or false", where="fit_decay: ended", given=given, allowed=allowed)
    ended = log["ended"].to_numpy()
    if not ended.any():
        raise DataError("no claim has ended", where="fit_decay", given=f"{log.height} claims", hint="observe for longer")
    return duration, np.where(ended, duration, np.inf)


def _intervals(log: pl.DataFrame) -> tuple[Array, Array]:
    """Return the bounds of each lifetime, read from the columns `after` and `before` (null: still true)."""
    if log.is_empty():
        raise DataError("the log is empty", where="fit_decay", allowed="1 or more rows")
    after, before = _numbers(log, "after"), _numbers(log, "before", unknown=True)
    wrong = before < after
    if wrong.any():
        row = int(wrong.argmax())
        where, allowed = f"fit_decay: before, row {row}", f"{after[row]:g} days or more, or null"
        raise DataError("the claim ended before it was last true", where=where, given=float(before[row]), allowed=allowed)
    return after, np.where(np.isnan(before), np.inf, before)


def _numbers(log: pl.DataFrame, name: str, *, unknown: bool = False) -> Array:
    """Return a column of days as floats. Null becomes NaN if `unknown` is true; NaN and infinity are always refused."""
    column = log[name]
    if not (column.dtype.is_numeric() or (unknown and column.dtype == pl.Null)):
        raise DataError("not a number of days", where=f"fit_decay: {name}", given=str(column.dtype))
    values: Array = column.cast(pl.Float64).fill_null(np.nan).to_numpy()
    bad = ~(np.isfinite(values) & (values >= 0.0))
    if unknown:
        bad &= column.is_not_null().to_numpy()
    if bad.any():
        where, allowed = f"fit_decay: {name}, row {int(bad.argmax())}", "days, 0 or more" + ", or null" * unknown
        raise DataError("not a number of days", where=where, given=float(values[bad][0]), allowed=allowed)
    return values
