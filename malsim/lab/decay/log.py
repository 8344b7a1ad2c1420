"""A log of how long things stayed true, checked and in order of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.errors import DataError, UsageError

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Array, Bools, Ints

FEWEST = 10
SIGHTED = {"rep", "object", "value", "start", "restated", "until"}  # what `histories` adds: who said what when
_INTERVALS = "after and before, or duration and ended"


@dataclass(frozen=True, eq=False)
class Log:
    """Lifetimes in days of age: true up to `after`, over by `before` (infinite: still true), in sight since `entered`.

    Of unknown age when it came in sight: NaN. `start` is the day each began (None where rows only stand in order of time).
    """

    after: Array
    before: Array
    entered: Array
    start: Array | None = None

    @property
    def of_known_age(self) -> Log:
        """The lifetimes whose age was known when they came in sight."""
        return self.rows(~np.isnan(self.entered))

    @property
    def ended(self) -> Bools:
        """Mask of the lifetimes that ended."""
        return np.isfinite(self.before)

    @property
    def duration(self) -> Array:
        """Observed duration of each lifetime; the midpoint if the end lay between two ages."""
        return np.where(self.ended, (self.after + np.where(self.ended, self.before, 0.0)) / 2.0, self.after)

    def __len__(self) -> int:
        return len(self.after)

    def rows(self, selection: Ints | Bools | slice) -> Log:
        """Return the selected lifetimes."""
        start = None if self.start is None else self.start[selection]
        return Log(self.after[selection], self.before[selection], self.entered[selection], start)

    def split(self, share: float, end: float = 1.0) -> tuple[Log, Log]:
        """Return the earlier lifetimes as they were known when the later began, and the later, up to a share of all."""
        cut, last = round(len(self) * share), round(len(self) * end)
        early, late = self.rows(slice(0, cut)), self.rows(slice(cut, last))
        if self.start is None or cut == len(self):
            return early, late
        age = self.start[cut] - self.start[:cut]
        before = np.where(early.before <= age, early.before, np.inf)
        then = Log(np.minimum(early.after, age), before, early.entered, early.start)
        return then.rows((age > then.entered) & (then.after >= then.entered)), late


def read_log(log: pl.DataFrame, *, share: float, floor: float | None) -> Log:
    """Return the lifetimes of a frame; see `fit_decay`. An `entered` of null is NaN.

    A lifetime that ended at once, at the age of 0, is read as ended after half of the shortest other duration, as a density
    at 0 says nothing. Raises `DataError` for what is not a log, `UsageError` for settings out of bounds.
    """
    if not 0.0 < share <= 1.0:
        raise UsageError("not a share", where="fit_decay: share", given=share, allowed="above 0 to 1")
    if floor is not None and not 0.0 <= floor < 1.0:
        raise UsageError("not a floor", where="fit_decay: floor", given=floor, allowed="0 to below 1, or None")
    after, before = _intervals(log) if {"after", "before"} <= set(log.columns) else _durations(log)
    start = _numbers(log, "start", least=-np.inf) if "start" in log.columns else None
    entered = _numbers(log, "entered", least=0.0, unknown=True) if "entered" in log.columns else np.zeros(log.height)
    late = entered > np.where(np.isfinite(before), np.minimum(after, before), after)
    if late.any():
        where, first = f"fit_decay: entered, row {int(late.argmax())}", int(late.argmax())
        raise DataError(
            "came in sight after it was last seen", where=where, given=entered[first], allowed=f"0 to {after[first]}"
        )
    positive = np.concatenate([after, before[np.isfinite(before)]])
    positive = positive[positive > 0.0]
    if not positive.size and not log.is_empty() and not set(log.columns) >= SIGHTED:
        raise DataError("no claim was watched for any time", where="fit_decay: duration", given=0.0)
    at_once = before == 0.0
    least = positive.min() / 2.0 if positive.size else 0.0
    after, before = np.where(at_once, least, after), np.where(at_once, least, before)
    order = np.arange(log.height) if start is None else np.argsort(start, kind="stable")
    return Log(after, before, entered, start).rows(order)


def _durations(log: pl.DataFrame) -> tuple[Array, Array]:
    """Columns `duration` and `ended`: when each lifetime ended is known to the day, or that it had not."""
    missing = [name for name in ("duration", "ended") if name not in log.columns]
    if missing:
        hint = f"add {' and '.join(missing)}"
        raise DataError(
            "columns are missing", where="fit_decay", given=", ".join(log.columns), allowed=_INTERVALS, hint=hint
        )
    if log.height < FEWEST:
        raise DataError("too few claims to fit", where="fit_decay", given=log.height, allowed=f"{FEWEST} or more")
    duration = _numbers(log, "duration", least=0.0)
    if log["ended"].dtype != pl.Boolean or log["ended"].null_count():
        raise DataError(
            "not true or false throughout", where="fit_decay: ended", given=str(log["ended"].dtype), allowed="Boolean"
        )
    ended = log["ended"].to_numpy()
    if not ended.any():
        raise DataError("none of the claims ended", where="fit_decay", given=f"{log.height} claims", hint="watch for longer")
    return duration, np.where(ended, duration, np.inf)


def _intervals(log: pl.DataFrame) -> tuple[Array, Array]:
    """Columns `after` and `before`: true up to the one, over by the other; null where it was still true."""
    if log.is_empty():
        raise DataError("a log without rows", where="fit_decay", given=0, allowed="1 or more")
    after, before = _numbers(log, "after", least=0.0), _numbers(log, "before", least=0.0, unknown=True)
    wrong = before < after
    if wrong.any():
        row = int(wrong.argmax())
        raise DataError(
            "over before it was last true", where=f"fit_decay: before, row {row}", given=float(before[row]),
            allowed=f"{after[row]:g} days or more, or null",
        )  # fmt: skip
    return after, np.where(np.isnan(before), np.inf, before)


def _numbers(log: pl.DataFrame, name: str, *, least: float, unknown: bool = False) -> Array:
    """Return a column of days: null, where allowed, becomes NaN; a NaN or an infinity in the log is refused."""
    column = log[name]
    if not (column.dtype.is_numeric() or (unknown and column.dtype == pl.Null)):
        raise DataError("not a number of days", where=f"fit_decay: {name}", given=str(column.dtype))
    values: Array = column.cast(pl.Float64).fill_null(np.nan).to_numpy()
    bad = ~(np.isfinite(values) & (values >= least))
    if unknown:
        bad &= column.is_not_null().to_numpy()
    if bad.any():
        where = f"fit_decay: {name}, row {int(bad.argmax())}"
        allowed = "days, 0 or more" if least == 0.0 else "days"
        allowed += ", or null" if unknown else ""
        raise DataError("not a number of days", where=where, given=float(values[bad][0]), allowed=allowed)
    return values
