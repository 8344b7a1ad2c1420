"""Metrics of a series, one number per replication: its mean, its extremes, and those of a step response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from malsim.base.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Callable

Array: TypeAlias = NDArray[np.float64]
RISE = (0.1, 0.9)
SETTLING = 0.02


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """Days since the window's start (T,), values (T, R) with NaN where there is none, and the final value of each (R,)."""

    days: Array
    values: Array
    final: Array

    def first(self, mask: NDArray[np.bool_]) -> Array:
        """Return the day of the first tick of a mask; infinite if the mask is empty."""
        return np.where(mask.any(axis=0), self.days[mask.argmax(axis=0)], np.inf)

    def reaches(self, share: float) -> Array:
        """Return the day on which a share of the final value is first reached."""
        return self.first(np.sign(self.final) * (self.values - share * self.final) >= 0)

    def beyond(self, sign: int) -> Array:
        """Return how far the values pass the final value (sign 1), or 0 on its other side (-1), in percent of it."""
        upright = np.sign(self.final) * self.values
        far = np.nanmax(upright, axis=0) - np.abs(self.final) if sign > 0 else -np.nanmin(upright, axis=0)
        share: Array = np.maximum(far, 0.0) / np.abs(self.final)
        return 100.0 * share


def _rise(series: Series) -> Array:
    begins, ends = series.reaches(RISE[0]), series.reaches(RISE[1])
    return ends - np.where(np.isfinite(ends), begins, 0.0)


def _settling(series: Series) -> Array:
    outside = np.abs(series.values / series.final - 1) >= SETTLING
    after = np.where(outside.any(axis=0), len(outside) - outside[::-1].argmax(axis=0), 0)
    ends: Array = np.append(series.days, np.inf)[after]
    return ends


METRICS: dict[str, Callable[[Series], Array]] = {
    "mean": lambda series: np.nanmean(series.values, axis=0),
    "lowest": lambda series: np.nanmin(series.values, axis=0),
    "highest": lambda series: np.nanmax(series.values, axis=0),
    "last": lambda series: series.final,
    "rise_time": _rise,
    "settling_time": _settling,
    "overshoot": lambda series: series.beyond(1),
    "undershoot": lambda series: series.beyond(-1),
    "peak": lambda series: np.nanmax(np.abs(series.values), axis=0),
    "peak_time": lambda series: series.days[np.nanargmax(np.abs(series.values), axis=0)],
}
STEPS = ("rise_time", "settling_time", "overshoot", "undershoot")


def measure(metric: str, days: Array, values: Array, *, final: float | None = None) -> Array:
    """Compute a metric of a series, one number per replication.

    `rise_time` is from 10 % to 90 % of the final value, `settling_time` until the values stay within 2 % of it, `overshoot`
    and `undershoot` are in percent of it; `peak` is the largest distance from 0. Times are in days since the first tick
    given, infinite if it never happens. Definitions as in python-control's `step_info`.

    Parameters
    ----------
    metric
        A key of `METRICS`.
    days, values
        Shapes (T,) and (T, R); NaN where there is no value yet.
    final
        What the series should settle at; default its last value, where there is one.

    Raises
    ------
    ScenarioError
        If a replication has no value, or a step response ends at 0, of which no share can be taken.

    >>> measure("overshoot", np.arange(4.0), np.array([[0.0], [1.5], [0.9], [1.0]])).tolist()
    [50.0]
    """
    there = ~np.isnan(values)
    if not there.any(axis=0).all():
        raise ScenarioError("a replication has no value in the window", hint="move the window")
    last = values[len(days) - 1 - there[::-1].argmax(axis=0), np.arange(values.shape[1])]
    ends = np.full(values.shape[1], final) if final is not None else last
    if metric in STEPS and (ends == 0).any():
        raise ScenarioError(f"{metric} is a share of the final value, which is 0", hint="set final, or measure 1 - x")
    return METRICS[metric](Series(days - days[0], values, ends))
