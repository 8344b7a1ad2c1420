"""Estimators of a metric's mean and interval over replications, used for every printed metric."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from malsim.base.intervals import ANY, SHARE, difference_interval, ends, mean_interval, resamples
from malsim.sim.record.scoring import BINS
from malsim.sim.world.censored_times import censored_mean, own_means, pseudo_values

if TYPE_CHECKING:
    from malsim.base.intervals import Bounds
    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.sim.world.censored_times import CensoredMean, Spells

RESAMPLES = 1_000


@dataclass(frozen=True, eq=False)
class Measurement:
    """Values of a metric, one per replication and NaN where undefined. `mean_interval` computes their mean and interval.

    >>> [round(end, 3) for end in Measurement(np.array([1.0, 2.0, 3.0])).mean()]
    [2.0, -0.484, 4.484]
    """

    each: Array
    bounds: Bounds = ANY

    @property
    def parts(self) -> Array:
        return self.each

    @property
    def count(self) -> int:
        return int((~np.isnan(self.each)).sum())

    @property
    def time(self) -> CensoredMean | None:
        return None

    def mean(self, *, stopped: bool = False) -> tuple[float, float, float]:
        """Return the mean and both ends of its 95 % interval. For `stopped`, see `mean_interval`."""
        return mean_interval(self.each, self.bounds, stopped=stopped)

    def and_more(self, more: Self) -> Self:
        return replace(self, each=np.concatenate([self.each, more.each]))


@dataclass(frozen=True, eq=False)
class Times(Measurement):
    """Durations in days, some of them censored. The spells of all replications are pooled by `censored_mean`."""

    spells: Spells = ()  # type: ignore[assignment]

    @classmethod
    def of(cls, spells: Spells, replications: int, bounds: Bounds) -> Times:
        return cls(own_means(spells, replications), bounds, spells)

    @cached_property
    def parts(self) -> Array:
        return pseudo_values(self.spells, len(self.each))

    @property
    def count(self) -> int:
        return len(np.unique(np.concatenate([rep for rep, *_ in self.spells]))) if self.spells else 0

    @cached_property
    def time(self) -> CensoredMean | None:
        return censored_mean(self.spells, len(self.each))

    def mean(self, *, stopped: bool = False) -> tuple[float, float, float]:  # noqa: ARG002  # the interval is wide enough
        """Return the pooled mean and its interval, or NaN if most spells are estimated to outlast the longest one."""
        return (self.time.value, self.time.low, self.time.high) if self.time else (np.nan, np.nan, np.nan)

    def and_more(self, more: Self) -> Self:
        later = [(rep + len(self.each), days, ended) for rep, days, ended in more.spells]
        return replace(self, each=np.concatenate([self.each, more.each]), spells=[*self.spells, *later])


@dataclass(frozen=True, eq=False)
class CalibrationErrors(Measurement):
    """Calibration error of beliefs, computed in 15 equal bins over the claims of all replications.

        ece = Σ_b |g_b| / Σ_b c_b;  rmse = √(Σ_b g_b² / c_b / Σ_b c_b)

    g_b is the sum of true − belief in bin b and c_b the number of its claims, both of shape (replications, 15). Each end of
    the interval is the wider of two: that of the mean of pseudo-values, and that of a bootstrap over replications. With few
    claims the error is biased upward, and either interval alone has a coverage of only 0.04 to 0.9.
    """

    gaps: Array = ()  # type: ignore[assignment]
    counts: Array = ()  # type: ignore[assignment]
    squared: bool = False

    @classmethod
    def of(cls, rep: Ints, belief: Array, true: Bools, replications: int, *, squared: bool) -> CalibrationErrors:
        index, size = rep * BINS + np.minimum((belief * BINS).astype(np.int64), BINS - 1), replications * BINS
        sums = (np.bincount(index, part, minlength=size) for part in (true - belief, np.ones(len(rep))))
        gaps, counts = (part.astype(np.float64).reshape(-1, BINS) for part in sums)
        each = np.where(counts.sum(axis=1) > 0, _error(gaps, counts, squared=squared), np.nan)
        return cls(each, SHARE, gaps, counts, squared)

    @property
    def pooled(self) -> float:
        gaps, counts = self.gaps.sum(axis=0, keepdims=True), self.counts.sum(axis=0, keepdims=True)
        return float(_error(gaps, counts, squared=self.squared)[0]) if counts.any() else np.nan

    @property
    def parts(self) -> Array:
        size = len(self.each)
        without = _error(self.gaps.sum(axis=0) - self.gaps, self.counts.sum(axis=0) - self.counts, squared=self.squared)
        return size * self.pooled - (size - 1) * without if size > 1 else self.each

    def mean(self, *, stopped: bool = False) -> tuple[float, float, float]:
        value, size, parts = self.pooled, len(self.each), self.parts
        if size == 1 or np.isnan(value):
            return value, np.nan, np.nan
        weight = resamples(size, RESAMPLES, seed=0).astype(np.float64)
        redrawn = ends(_error(weight @ self.gaps, weight @ self.counts, squared=self.squared))
        _, low, high = mean_interval(parts, SHARE if 0.0 < parts.mean() < 1.0 else ANY, stopped=stopped)
        low, high = np.fmin(low, min(redrawn[0], value)), np.fmax(high, max(redrawn[1], value))
        return value, max(float(low), 0.0), min(float(high), 1.0)

    def and_more(self, more: Self) -> Self:
        gaps, counts = np.concatenate([self.gaps, more.gaps]), np.concatenate([self.counts, more.counts])
        return replace(self, each=np.concatenate([self.each, more.each]), gaps=gaps, counts=counts)


@dataclass(frozen=True, eq=False)
class Paired:
    """Difference between two measurements, paired by replication."""

    left: Measurement
    right: Measurement

    @property
    def parts(self) -> Array:
        return self.right.parts - self.left.parts

    @property
    def count(self) -> int:
        return int((~np.isnan(self.parts)).sum())

    @property
    def time(self) -> None:
        """None, because the difference between two durations has no censored mean."""
        return

    @property
    def unknown(self) -> CensoredMean | None:
        return next((side.time for side in (self.left, self.right) if side.time and np.isnan(side.time.value)), None)

    def mean(self, *, stopped: bool = False) -> tuple[float, float, float]:
        """Return the mean of right − left and both ends of its interval. Without an interval, both ends equal the mean."""
        pairs = self.parts
        mean, low, high = difference_interval(pairs, np.zeros(len(pairs)), self.left.bounds, stopped=stopped)
        return (mean, mean, mean) if np.isnan(low) else (mean, low, high)

    def and_more(self, more: Paired) -> Paired:
        return Paired(self.left.and_more(more.left), self.right.and_more(more.right))


def _error(gaps: Array, counts: Array, *, squared: bool) -> Array:
    total = np.maximum(counts.sum(axis=1), 1.0)
    if not squared:
        return np.abs(gaps).sum(axis=1) / total  # type: ignore[no-any-return]
    squares = np.divide(gaps**2, counts, out=np.zeros_like(gaps), where=counts > 0)
    return np.sqrt(squares.sum(axis=1) / total)  # type: ignore[no-any-return]
