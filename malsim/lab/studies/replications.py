"""Replication of a scenario until its estimates are as precise as requested."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.base.intervals import PATIENCE, SKEWED, skewness
from malsim.lab.space.settings import scenario_of
from malsim.lab.studies.measure import Estimate, label_of, measurements_by_running, name_of, refuse_no_spread
from malsim.sim.record.measurement import Measurement

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from malsim.lab.space.settings import ScenarioOrPath
    from malsim.lab.studies.measure import Array, Measure
    from malsim.showing.plots.style import Sheet
    from malsim.sim.record.measurement import Paired

    Sample = Callable[[int, int], Sequence[Array | Measurement | Paired]]

FIRST = 16
GROWTH = 1.5
MOST = 4096
COCHRAN = 25.0
NOTABLE = 1.5  # smallest notable skewness, in standard errors of the skewness of a normal sample
FEWEST = 100


@dataclass(frozen=True, kw_only=True, repr=False)
class ReplicationResult:
    """Result of `replicate()`: an estimate and a requested half-width per metric.

    `each` has one row per replication: rep, then a column per metric. `rounds` has one row per round of replications and
    metric: replications, metric, value, low, high, asked.
    """

    estimates: dict[str, Estimate]
    targets: dict[str, float]
    each: pl.DataFrame
    rounds: pl.DataFrame

    @property
    def reached(self) -> bool:
        """True if every interval is as narrow as requested and rests on enough replications."""
        return all(self._reached(name) for name in self.estimates)

    @property
    def doubts(self) -> dict[str, str]:
        """Metrics whose interval may have less than 95 % coverage, each with the reason."""
        samples = {name: self._values(name) for name in self.estimates}
        return {
            name: f"skewed (skewness {skewness(values):.2g}): below {needed(values)} replications the interval may cover "
            "less often than it says"
            for name, values in samples.items()
            if not enough(values)
        }

    def _values(self, name: str) -> Array:
        return self.each[name].drop_nulls().to_numpy()

    def _reached(self, name: str) -> bool:
        return self.estimates[name].half_width <= self.targets[name] and enough(self._values(name))

    @property
    def replications(self) -> int:
        return self.each.height

    @property
    def frame(self) -> pl.DataFrame:
        """Frame with one row per metric: metric, value, low, high, replications, asked (requested half-width), reached."""
        columns = ["metric", "value", "low", "high", "replications"]
        rows = [{name: getattr(estimate, name) for name in columns} for estimate in self.estimates.values()]
        targets, reached = ([get(name) for name in self.estimates] for get in (self.targets.__getitem__, self._reached))
        return pl.DataFrame(rows).with_columns(asked=pl.Series(targets), reached=pl.Series(reached))

    def plot(self, title: str = "") -> Sheet:
        """Plot each metric's interval after every round of replications, with the requested half-width."""
        from malsim.showing.plots.studies.estimates import narrowing

        return narrowing(self.rounds, labels={name: label_of(name) for name in self.targets}, title=title)

    def __getitem__(self, metric: str) -> Estimate:
        return self.estimates[metric]

    def __repr__(self) -> str:
        lines, doubts = [], self.doubts
        for name, estimate in self.estimates.items():
            target = self.targets[name]
            wide = "" if estimate.half_width <= target else f"; ± {target:g} was requested and not reached"
            doubt = f"; {doubts[name]}" if name in doubts else ""
            lines.append(f"{estimate}{wide}{doubt}")
        return "\n".join(lines)


def replicate(
    scenario: ScenarioOrPath,
    *,
    metric: Measure | Sequence[Measure] = "accuracy",
    half_width: float | Mapping[str, float] = 0.01,
    first: int = FIRST,
    most: int = MOST,
) -> ReplicationResult:
    """Run replications until every metric's 95 % interval is within ± `half_width`, or until `most` have been run.

    The interval is that of `Measurement.mean`. For skewed values at least 25 skewness² replications are run, and at least
    100 (`needed`). If `most` is reached first, `doubts` and the printed line report that the interval's coverage may be
    lower. Replications are numbered from the scenario's first, so the first n do not depend on how many follow;
    `scenario.replications` is ignored.

    Parameters
    ----------
    metric
        One measure or several; see `measure.measured`. `steady of …` is a steady-state mean (MSER-5).
    half_width
        Requested half-width in the unit of the metric, or a mapping from metrics to half-widths.
    first, most
        Number of replications in the first round (2 or more), and the largest total. Each later round adds half as many
        replications as were run so far: checking more often and stopping at the first narrow interval makes the interval
        too narrow (Chow and Robbins, 1965). From 16 replications on, normal values lose about one percent of coverage.

    Raises
    ------
    UsageError
        For an unknown metric, an invalid half-width, or a metric that after 64 replications is constant or has fewer than
        two values.
    """
    scenario = scenario_of(scenario)
    measures: list[Measure] = [metric] if isinstance(metric, str) or callable(metric) else list(metric)
    if not measures:
        raise UsageError("a metric is missing", where="metric", hint='add metric="accuracy", for example')

    def sample(start: int, count: int) -> list[Measurement]:
        return measurements_by_running(scenario.replace(first=start, replications=count), measures)

    targets = half_widths([name_of(measure) for measure in measures], half_width)
    return sequential(sample, targets, start=scenario.first, first=first, most=most)


def sequential(
    sample: Sample,
    targets: Mapping[str, float],
    *,
    start: int = 0,
    first: int = FIRST,
    most: int = MOST,
    alike: bool = False,
) -> ReplicationResult:
    """Draw samples until the 95 % interval of every quantity is narrow enough. `replicate` explains the stopping rule.

    `sample(start, count)` returns, for each name in `targets` (half-widths), a measurement of `count` replications from
    `start` on, or an array with one value per replication. Equal values raise `UsageError` unless `alike` is true.
    """
    if not 2 <= first <= most:  # noqa: PLR2004  # one replication has no spread
        raise UsageError("at least two replications are needed", where="first", given=first, allowed=f"2 to {most}")
    samples: list[Measurement | Paired] = []
    rounds: list[tuple[str | float, ...]] = []
    due, count = first, 0
    while True:
        new = [Measurement(part) if isinstance(part, np.ndarray) else part for part in sample(start + count, due)]
        samples = [before.and_more(part) for before, part in zip(samples, new, strict=True)] if samples else new  # type: ignore[arg-type]
        count += due
        looks = [Estimate.of(measured, name, stopped=True) for name, measured in zip(targets, samples, strict=True)]
        rounds += [(count, look.metric, look.value, look.low, look.high, targets[look.metric]) for look in looks]
        values = [measured.parts for measured in samples]
        pairs = zip(looks, values, strict=True)
        narrow = all(0.0 < look.half_width <= targets[look.metric] and enough(column) for look, column in pairs)
        flat = any(len(np.unique(column[~np.isnan(column)])) < 2 for column in values)  # noqa: PLR2004  # one value has no spread
        if narrow or count >= most or (flat and count >= PATIENCE):
            break
        due = min(max(int(count * (GROWTH - 1.0)), 1), most - count)
    estimates = {}
    for name, measured in zip(targets, samples, strict=True):
        refuse_no_spread(measured, name, alike=alike)
        estimates[name] = Estimate.of(measured, name, stopped=bool(np.isfinite(targets[name])))
    each = pl.DataFrame({"rep": start + np.arange(count)} | dict(zip(targets, values, strict=True)))
    return ReplicationResult(
        estimates=estimates,
        targets=dict(targets),
        each=each.with_columns(pl.exclude("rep").fill_nan(None)),
        rounds=pl.DataFrame(rounds, orient="row", schema=["replications", "metric", "value", "low", "high", "asked"]),
    )


def half_widths(names: Sequence[str], half_width: float | Mapping[str, float]) -> dict[str, float]:
    """Return the requested half-width of each metric. Raises `UsageError` if a half-width is missing or not positive."""
    widths = half_width if not isinstance(half_width, (int, float)) else dict.fromkeys(names, float(half_width))
    for name in names:
        if name not in widths:
            problem, hint = "the half-width of this metric is missing", "give a half-width for each metric"
            raise UsageError(problem, where="half_width", given=name, hint=hint)
        if not 0.0 < widths[name] < np.inf:
            raise UsageError("out of bounds", where="half_width", given=widths[name], allowed="above 0")
    return {name: widths[name] for name in names}


def enough(values: Array) -> bool:
    return bool((~np.isnan(values)).sum() >= needed(values))


def needed(values: Array) -> int:
    """Return the sample size that makes the mean nearly normal: max(100, 25 γ²), or 0 if the skewness γ is small.

    A small sample of a long-tailed distribution often misses the tail: it shows little skewness, a low mean and a narrow
    interval. Stopping therefore waits for this number of values. Source: Cochran, 1977, 2.15.

    >>> needed(np.array([1.0, 2.0, 3.0])), needed(np.array([0.0] * 99 + [5.0]))
    (0, 2426)
    """
    size, count = abs(skewness(values)), max(int((~np.isnan(values)).sum()), 1)
    skewed = size > min(SKEWED, NOTABLE * math.sqrt(6.0 / count))
    return max(FEWEST, math.ceil(COCHRAN * size**2)) if skewed else 0
