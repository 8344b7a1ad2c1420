"""As many replications as an answer needs, and two scenarios compared on the same random numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from malsim.errors import UsageError
from malsim.lab.measure import Array, interval, measured
from malsim.sim import bench

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.lab.measure import Measure
    from malsim.sim.script import Scenario

__all__ = ["Comparison", "Replicated", "compare", "mser5", "replicate"]

FIRST = 16
GROWTH = 1.5
CONFIDENCE = 0.95
BATCH = 5


@dataclass(frozen=True, kw_only=True)
class Replicated:
    """A measure over replications: value (its mean), low and high (95 %), and whether `half_width` was reached."""

    metric: str
    value: float
    low: float
    high: float
    replications: int
    half_width: float
    reached: bool
    each: Array

    def __str__(self) -> str:
        """One line."""
        end = "" if self.reached else f"; the half-width asked, {self.half_width:g}, was not reached"
        return f"{self.metric} {self.value:.4g} [{self.low:.4g}, {self.high:.4g}] over {self.replications} replications{end}"


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What b has over a, paired by replication: value (mean of b − a) with its 95 % interval; `each` the differences.

    `gain` is how many times more replications unpaired runs would need for an interval as narrow.
    """

    metric: str
    value: float
    low: float
    high: float
    replications: int
    gain: float
    each: Array

    @property
    def differs(self) -> bool:
        """Whether the interval leaves 0 out."""
        return self.low > 0.0 or self.high < 0.0

    def __str__(self) -> str:
        """One line."""
        verdict = "differs" if self.differs else "no difference shown"
        return f"{self.metric}: b − a = {self.value:+.4g} [{self.low:+.4g}, {self.high:+.4g}], {verdict}"


def replicate(
    scenario: Scenario,
    *,
    metric: Measure | Sequence[Measure] = "accuracy",
    half_width: float = 0.01,
    most: int = 4096,
    first: int = FIRST,
) -> list[Replicated] | Replicated:
    """Run more replications until every metric's 95 % half-width is at most the one asked, or there are `most`.

    Replications are numbered on from the scenario's first, so that the first n are the same lives however many follow.
    The rounds grow by half; looking again after each round makes the interval a little narrow, by less than a percent of
    coverage from 16 on. A metric that is the same in every replication raises `UsageError`, as its interval says nothing.
    """
    if not 0.0 < half_width < np.inf:
        raise UsageError("not a half-width", where="half_width", given=half_width, allowed="above 0")
    if not 2 <= first <= most:  # noqa: PLR2004  # one life has no spread
        raise UsageError("an interval needs two replications or more", where="first", given=first, allowed=f"2 to most, {most}")
    metrics = [metric] if isinstance(metric, str) or callable(metric) else list(metric)
    held: list[list[Array]] = [[] for _ in metrics]
    done, due = 0, first
    while True:
        run = bench.run(scenario.replace(replications=due, first=scenario.first + done))
        for kept, one in zip(held, metrics, strict=True):
            kept.append(_each(measured(run, one), due, one))
        done += due
        found = [_summary(np.concatenate(kept), one, half_width) for kept, one in zip(held, metrics, strict=True)]
        if all(each.reached for each in found) or done >= most:
            break
        due = min(max(int(done * (GROWTH - 1.0)), 1), most - done)
    return found[0] if isinstance(metric, str) or callable(metric) else found


def compare(a: Scenario, b: Scenario, *, metric: Measure = "accuracy", replications: int = 100) -> Comparison:
    """Compare two scenarios by the same replication numbers, so that what chance does to one it does to the other.

    Draws are addressed by (seed, replication, population, member, turn, purpose): what both share is drawn alike. b runs
    under a's seed.
    """
    if replications < 2:  # noqa: PLR2004
        given = replications
        raise UsageError("an interval needs two replications or more", where="replications", given=given, allowed="2 or more")
    same = {"replications": replications, "seed": a.seed, "first": a.first}
    left, right = (_each(measured(bench.run(one.replace(**same)), metric), replications, metric) for one in (a, b))
    each = right - left
    mean, low, high = interval(each, confidence=CONFIDENCE)
    apart, paired = np.nanvar(left) + np.nanvar(right), np.nanvar(each)
    gain = float(apart / paired) if paired > 0.0 else np.inf
    name = _name(metric)
    return Comparison(metric=name, value=mean, low=low, high=high, replications=replications, gain=gain, each=each)


def mser5(series: Array) -> int:
    """How many of the first values to drop as warm-up: the multiple of five that minimises the standard error of the rest.

    MSER-5: over means of five, argmin_d Σ_{i ≥ d} (x_i − mean of the rest)² / (n − d)², d at most half. Source: White,
    An effective truncation heuristic for bias reduction in simulation output, 1997.

    >>> mser5(np.r_[np.linspace(5.0, 0.0, 20), np.tile([0.1, -0.1, 0.0], 40)])
    20
    """
    count = len(series) // BATCH
    if count < 2:  # noqa: PLR2004
        raise UsageError("too short to find a warm-up in", where="mser5", given=f"{len(series)} values", allowed="10 or more")
    means = series[: count * BATCH].reshape(count, BATCH).mean(axis=1)
    errors = [float(np.var(means[drop:]) / (count - drop)) for drop in range(count // 2 + 1)]
    return int(np.argmin(errors)) * BATCH


def _each(values: Array, replications: int, metric: Measure) -> Array:
    if len(values) != replications:
        raise UsageError(
            "a measure gives one number a replication",
            where=_name(metric),
            given=f"{len(values)} numbers",
            allowed=f"{replications}",
        )
    return values


def _summary(each: Array, metric: Measure, half_width: float) -> Replicated:
    mean, low, high = interval(each, confidence=CONFIDENCE)
    if np.isnan(low):
        raise UsageError("fewer than two replications have this figure", where=_name(metric), hint="run it longer, or more often")
    if low == high:
        hint = "nothing in this scenario is left to chance; one replication tells all"
        raise UsageError("the metric is the same in every replication", where=_name(metric), given=mean, hint=hint)
    reached = (high - low) / 2.0 <= half_width
    count = int((~np.isnan(each)).sum())
    name = _name(metric)
    return Replicated(
        metric=name, value=mean, low=low, high=high, replications=count, half_width=half_width, reached=reached, each=each
    )


def _name(metric: Measure) -> str:
    return metric if isinstance(metric, str) else getattr(metric, "__name__", "metric")
