"""Metrics of a series, one number per replication: mean, minimum, maximum, last value, and step-response metrics."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from malsim.base.errors import ScenarioError
from malsim.base.intervals import ANY, COUNT, SHARE
from malsim.scenario.properties.formula import Apply, Number, Read
from malsim.sim.context.turn import COUNTS, ONCE_A_TURN
from malsim.sim.record.metrics import METRICS as FIGURES
from malsim.sim.record.metrics import metric_bounds

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.base.intervals import Bounds
    from malsim.scenario.properties.formula import Value

Array: TypeAlias = NDArray[np.float64]
RISE = (0.1, 0.9)
SETTLING = 0.02


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """Series over a window: days since its start (T,), values (T, R) with NaN for missing ones, and final values (R,)."""

    days: Array
    values: Array
    final: Array

    def reaches(self, share: float) -> Array:
        """Return the first day on which each series reaches a share of its final value; infinite if it never does."""
        mask = np.sign(self.final) * (self.values - share * self.final) >= 0
        return np.where(mask.any(axis=0), self.days[mask.argmax(axis=0)], np.inf)

    def beyond(self, sign: int) -> Array:
        """Return the overshoot (`sign` 1) or the undershoot (−1) as a percentage of the final value."""
        upright = np.sign(self.final) * self.values
        far = np.nanmax(upright, axis=0) - np.abs(self.final) if sign > 0 else -np.nanmin(upright, axis=0)
        share: Array = np.maximum(far, 0.0) / np.abs(self.final)
        return 100.0 * share


def _rise(series: Series) -> Array:
    ends = series.reaches(RISE[1])
    return ends - np.where(np.isfinite(ends), series.reaches(RISE[0]), 0.0)


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

    As in python-control's `step_info`, `rise_time` is the time from 10 % to 90 % of the final value, and `settling_time`
    the time until values stay within 2 % of it. `overshoot` and `undershoot` are percentages of the final value, `peak` the
    largest distance from 0. Times are in days since the first tick, or infinite if the event never happens.

    `days` and `values` have the shapes (T,) and (T, R), with NaN for a missing value. `final` is the final value (default:
    the last value). Raises `ScenarioError` if a replication has no value, or if a step response ends at 0.

    >>> measure("overshoot", np.arange(4.0), np.array([[0.0], [1.5], [0.9], [1.0]])).tolist()
    [50.0]
    """
    valid = ~np.isnan(values)
    if not valid.any(axis=0).all():
        raise ScenarioError("a replication has no value in the window", hint="move or widen the window")
    last = values[len(days) - 1 - valid[::-1].argmax(axis=0), np.arange(values.shape[1])]
    finals = np.full(values.shape[1], final) if final is not None else last
    if metric in STEPS and (finals == 0).any():
        raise ScenarioError(f"{metric} is relative to the final value, which is 0", hint="set final, or measure 1 - x")
    return METRICS[metric](Series(days - days[0], values, finals))


_FIELDS = r"(right|belief|eff|conf|curr)\(.*\)"
BETWEEN_0_AND_1 = re.compile(rf"{_FIELDS}|share\(.*\)|(mean|min|max)\({_FIELDS}\)|.*-calibration")
OF_VALUE = ("mean", "lowest", "highest", "last")


def bounds_of_metric(metric: str, value: Value, days: float) -> Bounds:
    """Return the possible range of `metric`, and so of its mean, for `value` over a window of `days` days.

    >>> bounds_of_metric("mean", Apply("/", (Read("acted_false"), Read("acted"))), 30.0)
    (0.0, 1.0)
    """
    low, high = value_bounds(value)
    if metric in OF_VALUE:
        return low, high
    if metric == "peak":
        return 0.0, max(abs(low), abs(high))
    return (0.0, days) if metric.endswith("time") else COUNT


def value_bounds(value: Value) -> Bounds:
    """Return the possible range of a value at each tick; an unknown bound is infinite.

    >>> value_bounds(Apply("/", (Apply("+", (Read("right(a)"), Read("right(b)"))), Number(2.0))))
    (0.0, 1.0)
    >>> value_bounds(Apply("+", (Read("acted_false"), Read("acted_stale")))), value_bounds(Read("blocks"))
    ((0.0, 2.0), (0.0, inf))
    """
    if isinstance(value, Number):
        return value.value, value.value
    if isinstance(value, Read):
        return _address_bounds(value.address)
    if not isinstance(value, Apply):
        return ANY
    # The ratio of a count to the total that includes it is a share, such as acted_false / acted.
    if value.function == "/":
        part, whole = value.arguments
        if isinstance(part, Read) and isinstance(whole, Read) and part.address.startswith(f"{whole.address}_"):
            return SHARE
    low, high = _JOIN[value.function](*map(value_bounds, value.arguments))
    return ANY if isnan(low) or isnan(high) else (low, high)


def _address_bounds(address: str) -> Bounds:
    if address in FIGURES:
        return metric_bounds(address)
    if address in COUNTS:
        return SHARE if address in ONCE_A_TURN else COUNT
    return SHARE if BETWEEN_0_AND_1.fullmatch(address) else ANY


def _product(left: Bounds, right: Bounds) -> Bounds:
    ends = [a * b for a in left for b in right]
    return (min(ends), max(ends)) if not any(map(isnan, ends)) else ANY


def _ratio(left: Bounds, right: Bounds) -> Bounds:
    if right[0] > 0.0:
        return _product(left, (1.0 / right[1], 1.0 / right[0]))
    return COUNT if left[0] >= 0.0 and right[0] >= 0.0 else ANY


_JOIN: Mapping[str, Callable[..., Bounds]] = {
    "+": lambda left, right: (left[0] + right[0], left[1] + right[1]),
    "-": lambda left, right: (left[0] - right[1], left[1] - right[0]),
    "*": _product,
    "/": _ratio,
    "abs": lambda bounds: (0.0 if bounds[0] <= 0.0 <= bounds[1] else min(map(abs, bounds)), max(map(abs, bounds))),
    "negative": lambda bounds: (-bounds[1], -bounds[0]),
    "prev": lambda bounds: bounds,
    "next": lambda bounds: bounds,
    "min": lambda *all_bounds: (min(low for low, _ in all_bounds), min(high for _, high in all_bounds)),
    "max": lambda *all_bounds: (max(low for low, _ in all_bounds), max(high for _, high in all_bounds)),
}
