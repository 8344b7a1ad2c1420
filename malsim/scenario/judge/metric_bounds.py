"""A metric's mean over the replications, with its interval, and whether all of that lies between its bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from malsim.errors import ScenarioError
from malsim.intervals import student
from malsim.scenario.judge.checks import value_of
from malsim.scenario.judge.series_metrics import measure
from malsim.scenario.properties.margins import Margins
from malsim.sim.clock import DAY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.scenario.judge.checks import MetricCheck
    from malsim.scenario.properties import Trace

__all__ = ["Estimate", "estimate"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Estimate:
    """What a metric came to: the numbers of each replication, and the bounds that their mean must be shown to keep.

    The interval is Student's, at 95 %. Of one replication, or where a number is infinite, there is none; then every number
    itself must lie between the bounds, and its text says so.
    """

    what: str
    each: NDArray[np.float64]
    replications: NDArray[np.int64]
    within: tuple[float, float]

    @property
    def mean(self) -> float:
        """The mean over the replications; infinite if one of them is."""
        return float(self.each.mean())

    @property
    def interval(self) -> tuple[float, float] | None:
        """The mean's 95 % interval."""
        if len(self.each) == 1 or not np.isfinite(self.each).all():
            return None
        _, low, high = student(self.each)
        return low, high

    @property
    def ends(self) -> tuple[float, float]:
        """What must lie between the bounds: the interval's ends, or without one the least and the greatest number."""
        return self.interval or (float(self.each.min()), float(self.each.max()))

    @property
    def margin(self) -> float:
        """How far inside its bounds the nearer of the two ends is."""
        return min(_gap(self.within[0], self.ends[0]), _gap(self.ends[1], self.within[1]))

    @property
    def passed(self) -> bool:
        """Whether both ends lie between the bounds, these included."""
        return self.margin >= 0

    @property
    def farthest(self) -> int:
        """The replication whose number is farthest on the side where an end left its bounds the more."""
        low = _gap(self.within[0], self.ends[0]) <= _gap(self.ends[1], self.within[1])
        return int(self.replications[self.each.argmin() if low else self.each.argmax()])

    def __str__(self) -> str:
        """Say it in one line, and never that a single replication has an interval."""
        count = len(self.each)
        how = f" [{self.ends[0]:.6g}, {self.ends[1]:.6g}]" if self.interval else " (no interval: one of them is infinite)"
        text = f"{self.what} = {self.mean:.6g}{how if count > 1 else ' (one replication, so no interval)'}"
        if self.passed:
            return text
        inside = self.interval and self.within[0] <= self.mean <= self.within[1]
        hint = "; the mean is inside, its interval is not: more replications narrow it" if inside else ""
        return f"expected {self.within[0]:g} … {self.within[1]:g}, got {text}{hint}"


def _gap(lower: float, upper: float) -> float:
    return 0.0 if lower == upper else upper - lower


def estimate(check: MetricCheck, trace: Trace) -> Estimate:
    """Measure what a check asks for, in every replication."""
    values = Margins(trace).value(value_of(check.of))
    if values.dtype == object:
        raise ScenarioError("words cannot be measured", given=check.of, hint="compare them in a property")
    values = np.broadcast_to(values, (len(trace.times), len(trace.replications)))
    first, last = check.over or (0, int(trace.times[-1]))
    inside = (trace.times >= first) & (trace.times <= last)
    if last > trace.times[-1] + trace.period or not inside.any():
        end = f"day 0 to {trace.times[-1] / DAY:.6g}"
        raise ScenarioError("its window is not inside the run", given=f"{first / DAY:g}d … {last / DAY:g}d", allowed=end)
    each = measure(check.metric, trace.times[inside] / DAY, values[inside], final=check.final)
    return Estimate(what=check.metric, each=each, replications=trace.replications, within=check.within)
