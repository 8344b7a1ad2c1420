"""Mean of a metric over the replications, with its interval, compared with its bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from malsim.base.intervals import ANY
from malsim.sim.record.measurement import Measurement

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.base.intervals import Bounds


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MetricEstimate:
    """Estimate of a metric: one number per replication, and the bounds that the mean must keep.

    The interval is `Measurement.mean`'s, at 95 %, within `bounds`, between which the metric lies by what it is. Numbers all
    the same are taken at their word. Of one replication, or where a number is infinite, there is no interval; then every
    number itself must lie between the bounds asked, and its text says so. `pooled` is a measurement that puts replications
    together: a time that more than a half of its spells outlast fails a bound below half of the longest, and else cannot be
    judged.
    """

    what: str
    each: NDArray[np.float64]
    replications: NDArray[np.int64]
    within: tuple[float, float]
    bounds: Bounds = ANY
    pooled: Measurement | None = None

    @property
    def mean(self) -> float:
        """Mean over the replications; infinite if one of them is, NaN if it is not known."""
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
        """Numbers that must lie between the bounds: the interval's ends, or without one the least and the greatest."""
        if self._unknown:
            return self.longest / 2.0, np.inf
        return self.interval or ((self.mean, self.mean) if self.pooled else (float(self.each.min()), float(self.each.max())))

    @property
    def longest(self) -> float:
        """Longest spell observed, for a time; NaN for another metric."""
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
        """True if an end is beyond the bounds but the mean is not: the interval is too wide to decide."""
        if self._unknown:
            return not self.passed and not self.within[1] < self.ends[0]
        return self.interval is not None and not self.passed and self.within[0] <= self.mean <= self.within[1]

    @property
    def farthest(self) -> int:
        low = _gap(self.within[0], self.ends[0]) <= _gap(self.ends[1], self.within[1])
        item = np.nan_to_num(self.each, nan=np.inf if not low else -np.inf)
        return int(self.replications[item.argmin() if low else item.argmax()])

    def __str__(self) -> str:
        text = f"{self.what}{self._figure}"
        if self.passed:
            return text
        hint = "; the mean is inside, its interval is not: more replications narrow it" if self.undecided else ""
        text = f"expected {self.within[0]:g} … {self.within[1]:g}, got {text}{hint}"
        return f"could not be judged: {text}" if self.undecided else text

    @property
    def _figure(self) -> str:
        if self._unknown:
            return f" {self.pooled.time if self.pooled else ''}"
        spells = f"; {self.pooled.time}" if self.pooled and self.pooled.time else ""
        if len(self.each) == 1:
            return f" = {self.mean:.6g} (one replication, so no interval){spells}"
        how = f"[{self.ends[0]:.6g}, {self.ends[1]:.6g}]" if self.interval else "(no interval: one of them is infinite)"
        return f" = {self.mean:.6g} {how}{spells}"


def _gap(lower: float, upper: float) -> float:
    return 0.0 if lower == upper else upper - lower
