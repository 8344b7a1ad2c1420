"""A log of claims' lifetimes, checked and in order of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.errors import DataError, UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.lab.decay.laws import Array

__all__ = ["Log", "read_log"]

FEWEST = 10


@dataclass(frozen=True, eq=False)
class Log:
    """Durations (days), which of them ended, and when each began (days; None where rows only stand in order of time)."""

    duration: Array
    ended: NDArray[np.bool_]
    start: Array | None = None

    def split(self, share: float) -> tuple[Log, Log]:
        """The earlier claims as they were known when the later began, and the later."""
        cut = round(len(self.duration) * share)
        early, late = Log(self.duration[:cut], self.ended[:cut]), Log(self.duration[cut:], self.ended[cut:])
        if self.start is None or cut == len(self.duration):
            return early, late
        watched = self.start[cut] - self.start[:cut]
        seen = watched > 0.0
        ended = early.ended & (early.duration <= watched)
        return Log(np.minimum(early.duration, watched)[seen], ended[seen]), late


def read_log(log: pl.DataFrame, *, share: float, floor: float | None) -> Log:
    """The log of a frame with `duration`, `ended` and maybe `start`; see `fit_decay`.

    A claim that ended at once, at a duration of 0, is read as ended after half of the shortest other duration, as a
    density at 0 says nothing. Raises `DataError` for what is not a log, `UsageError` for settings out of bounds.
    """
    missing = [name for name in ("duration", "ended") if name not in log.columns]
    if missing:
        hint = f"add {' and '.join(missing)}"
        raise DataError("columns are missing", where="fit_decay", given=", ".join(log.columns), hint=hint)
    if not 0.0 < share <= 1.0:
        raise UsageError("not a share", where="fit_decay: share", given=share, allowed="above 0 to 1")
    if floor is not None and not 0.0 <= floor < 1.0:
        raise UsageError("not a floor", where="fit_decay: floor", given=floor, allowed="0 to below 1, or None")
    if log.height < FEWEST:
        raise DataError("too few claims to fit", where="fit_decay", given=log.height, allowed=f"{FEWEST} or more")
    start = _numbers(log, "start", least=-np.inf) if "start" in log.columns else None
    duration = _numbers(log, "duration", least=0.0)
    if log["ended"].dtype != pl.Boolean or log["ended"].null_count():
        raise DataError(
            "not true or false throughout", where="fit_decay: ended", given=str(log["ended"].dtype), allowed="Boolean"
        )
    ended = log["ended"].to_numpy()
    if not ended.any():
        raise DataError("none of the claims ended", where="fit_decay", given=f"{log.height} claims", hint="watch for longer")
    if not duration.sum() > 0.0:
        raise DataError("no claim was watched for any time", where="fit_decay: duration", given=0.0)
    least = duration[duration > 0.0].min() / 2.0
    order = np.arange(log.height) if start is None else np.argsort(start, kind="stable")
    lasted = np.where(ended, np.maximum(duration, least), duration)[order]
    return Log(lasted, ended[order], None if start is None else start[order])


def _numbers(log: pl.DataFrame, name: str, *, least: float) -> Array:
    if not log[name].dtype.is_numeric():
        raise DataError("not a number of days", where=f"fit_decay: {name}", given=str(log[name].dtype))
    values: Array = log[name].cast(pl.Float64).fill_null(np.nan).to_numpy()
    bad = ~(np.isfinite(values) & (values >= least))
    if bad.any():
        where = f"fit_decay: {name}, row {int(bad.argmax())}"
        allowed = "days, 0 or more" if least == 0.0 else "days"
        raise DataError("not a number of days", where=where, given=float(values[bad][0]), allowed=allowed)
    return values
