"""Bounds on a metric's mean over the replications, and tolerances for recorded columns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from malsim.base.errors import ScenarioError
from malsim.base.intervals import ANY
from malsim.sim.record.measurement import Measurement

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from malsim.base.intervals import Bounds


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MetricEstimate:
    """Estimate of a metric: one number per replication (`each`), and the bounds (`within`) on the mean.

    The interval is the 95 % interval of `Measurement.mean`, limited to `bounds`, the metric's possible range. If all
    numbers are equal, the interval is that number. For one replication, or if a number is infinite, there is no interval,
    and every number must lie within the bounds. `pooled` is a measurement over all replications. If most of its spells
    outlast the longest one, their mean fails an upper bound below half of that length, and otherwise cannot be judged.
    """

    what: str
    each: NDArray[np.float64]
    replications: NDArray[np.int64]
    within: tuple[float, float]
    bounds: Bounds = ANY
    pooled: Measurement | None = None

    @property
    def mean(self) -> float:
        """Mean over the replications or, with `pooled`, of the pooled measurement; NaN if the mean cannot be estimated."""
        return self.pooled.mean()[0] if self.pooled else float(self.each.mean())

    @property
    def interval(self) -> tuple[float, float] | None:
        if self.pooled:
            mean, low, high = self.pooled.mean()
            if np.isnan(low):
                return None if np.isnan(mean) or len(self.each) == 1 else (mean, mean)
            return low, high
        if len(self.each) == 1 or not np.isfinite(self.each).all():
            return None
        if np.ptp(self.each) == 0.0:
            return self.mean, self.mean
        keeps = self.bounds[0] <= self.each.min() and self.each.max() <= self.bounds[1]
        _, low, high = Measurement(self.each, self.bounds if keeps else ANY).mean()
        return low, high

    @property
    def ends(self) -> tuple[float, float]:
        """Numbers that must lie within the bounds: the interval's ends or, without an interval, the minimum and maximum."""
        if self._unknown:
            return self.longest / 2.0, np.inf
        return self.interval or ((self.mean, self.mean) if self.pooled else (float(self.each.min()), float(self.each.max())))

    @property
    def longest(self) -> float:
        """Length of the longest spell if the metric is a mean length of spells; NaN otherwise."""
        return self.pooled.time.horizon if self.pooled and self.pooled.time else np.nan

    @property
    def _unknown(self) -> bool:
        return self.pooled is not None and np.isnan(self.mean)

    @property
    def margin(self) -> float:
        return min(_gap(self.within[0], self.ends[0]), _gap(self.ends[1], self.within[1]))

    @property
    def passed(self) -> bool:
        return self.margin >= 0

    @property
    def undecided(self) -> bool:
        """True if an end of the interval is outside the bounds although the mean is inside."""
        if self._unknown:
            return not self.passed and not self.within[1] < self.ends[0]
        return self.interval is not None and not self.passed and self.within[0] <= self.mean <= self.within[1]

    @property
    def farthest(self) -> int:
        """Number of the replication that is farthest beyond a bound or, if all are inside, closest to a bound."""
        low = _gap(self.within[0], self.ends[0]) <= _gap(self.ends[1], self.within[1])
        numbers = np.nan_to_num(self.each, nan=np.inf if not low else -np.inf)
        return int(self.replications[numbers.argmin() if low else numbers.argmax()])

    def __str__(self) -> str:
        text = f"{self.what}{self._figure}"
        if self.passed:
            return text
        hint = "; the mean is inside, but its interval is not: use more replications" if self.undecided else ""
        text = f"expected {self.within[0]:g} … {self.within[1]:g}, got {text}{hint}"
        return f"could not be judged: {text}" if self.undecided else text

    @property
    def _figure(self) -> str:
        if self._unknown:
            return f" {self.pooled.time if self.pooled else ''}"
        spells = f"; {self.pooled.time}" if self.pooled and self.pooled.time else ""
        if len(self.each) == 1:
            return f" = {self.mean:.6g} (one replication, so no interval){spells}"
        interval = f"[{self.ends[0]:.6g}, {self.ends[1]:.6g}]" if self.interval else "(no interval: a number is infinite)"
        return f" = {self.mean:.6g} {interval}{spells}"


def _gap(lower: float, upper: float) -> float:
    return 0.0 if lower == upper else upper - lower


KEYS = {
    "cells": ("rep", "cell"),
    "signals": ("rep", "row", "signal"),
    "writers": ("rep", "writer"),
    "events": ("rep", "kind", "subject"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """Tolerance for a column: a value v is inside if |v − b| ≤ absolute + relative · |b|, where b is the recorded value.

    Text, bits and events must equal the recorded values. Both tolerances are 0 or more; `absolute` is in the column's
    unit. The default of `relative` allows for the nine digits of a baseline.
    """

    absolute: float = 0.0
    relative: float = 1e-8

    def __post_init__(self) -> None:
        for name in ("absolute", "relative"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ScenarioError("out of bounds", where=name, given=getattr(self, name), allowed="0 or more")


def band_of(bands: Mapping[str, Band], frame: str, column: str, signal: str = "") -> Band:
    """Return the most specific band given: that of the signal, of the frame's column, of the column, or of `*`."""
    return next((bands[key] for key in (signal, f"{frame}.{column}", column, "*") if key in bands), Band())
