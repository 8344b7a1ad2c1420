"""As many replications as an answer needs, and no more."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.base.intervals import CONFIDENCE, student
from malsim.lab.space.settings import scenario_of
from malsim.lab.studies.measure import Estimate, estimate, label_of, measured_by_running, name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from malsim.lab.space.settings import ScenarioOrPath
    from malsim.lab.studies.measure import Array, Measure
    from malsim.plot.style import Sheet

    Sample = Callable[[int, int], list[Array]]

__all__ = ["FIRST", "MOST", "ReplicationResult", "half_widths", "replicate", "sequential"]

FIRST = 16
GROWTH = 1.5
PATIENCE = 64
MOST = 4096
COCHRAN = 25.0
STOPPED = 0.975  # a stop at the first narrow interval costs some coverage, most of skewed values
STOPPED_EARLY = 0.965  # and some of the first few looks of any values
SKEWED = 1.0
NOTABLE = 1.5  # standard errors of the skewness of normal values
FEWEST = 100
INFLATED = 2.5


@dataclass(frozen=True, kw_only=True, repr=False)
class ReplicationResult:
    """What replicate() found: an estimate a metric, and whether every half-width asked was reached.

    `each` has a row a replication (rep, then a column a metric); `rounds` a row a look and metric: replications, metric,
    value, low, high, asked.
    """

    estimates: dict[str, Estimate]
    targets: dict[str, float]
    each: pl.DataFrame
    rounds: pl.DataFrame

    @property
    def reached(self) -> bool:
        """Whether every interval is as narrow as asked."""
        return all(self._reached(name) for name in self.estimates)

    @property
    def doubts(self) -> dict[str, str]:
        """Why the interval of a metric may cover less often than 95 %, by metric; those that keep it are left out."""
        each = {name: self._values(name) for name in self.estimates}
        return {
            name: f"skewed (skewness {skewness(values):.2g}): below {needed(values)} replications the interval may cover "
            "less often than it says"
            for name, values in each.items()
            if not enough(values)
        }

    def _values(self, name: str) -> Array:
        return self.each[name].drop_nulls().to_numpy()

    def _reached(self, name: str) -> bool:
        return self.estimates[name].half_width <= self.targets[name] and enough(self._values(name))

    @property
    def replications(self) -> int:
        """How many were run."""
        return self.each.height

    @property
    def frame(self) -> pl.DataFrame:
        """One row a metric: metric, value, low, high, replications (with a value), asked (half-width), reached."""
        rows = [(*astuple(one), self.targets[name], self._reached(name)) for name, one in self.estimates.items()]
        return pl.DataFrame(
            rows, orient="row", schema=["metric", "value", "low", "high", "replications", "asked", "reached"]
        )

    def plot(self, title: str = "") -> Sheet:
        """The interval at each look, beside the half-width asked."""
        from malsim.plot.studies.narrowing import narrowing

        return narrowing(self.rounds, labels={name: label_of(name) for name in self.targets}, title=title)

    def __getitem__(self, metric: str) -> Estimate:
        return self.estimates[metric]

    def __repr__(self) -> str:
        """One line a metric."""
        lines, doubts = [], self.doubts
        for name, one in self.estimates.items():
            wide = f"; ± {self.targets[name]:g} was asked and not reached" if one.half_width > self.targets[name] else ""
            doubt = f"; {doubts[name]}" if name in doubts else ""
            lines.append(f"{one}{wide}{doubt}")
        return "\n".join(lines)


def replicate(
    scenario: ScenarioOrPath,
    *,
    metric: Measure | Sequence[Measure] = "accuracy",
    half_width: float | Mapping[str, float] = 0.01,
    first: int = FIRST,
    most: int = MOST,
) -> ReplicationResult:
    """Run more replications until every metric's 95 % interval is mean ± `half_width` or narrower, or there are `most`.

    The interval is Student's t over replications; of a share it is the exact one, of skewed values it is widened (`ends_of`)
    and waits for 25 skewness² replications, 100 at least (`needed`). Where `most` comes first it may cover less often, and
    `doubts` and the printed line say so. Replications are numbered on from the scenario's first, so the first n are the
    same however many follow; `scenario.replications` is not looked at.

    Parameters
    ----------
    metric
        One measure or several; see `measure.measured`. For a steady-state metric say `steady of …` (MSER-5).
    half_width
        In the metric's own unit; by metric, if a mapping.
    first, most
        Replications of the first look, 2 or more, and the most. Each further look comes after half as many again: looking
        often and stopping at the first narrow interval makes it too narrow (Chow and Robbins, 1965: less so the more there
        are); from 16 on, by about a percent of coverage for normal values.

    Raises
    ------
    UsageError
        For what is no metric or half-width, or a metric that after 64 replications is still the same in each, or has fewer
        than two values.
    """
    scenario = scenario_of(scenario)
    measures: list[Measure] = [metric] if isinstance(metric, str) or callable(metric) else list(metric)
    if not measures:
        raise UsageError("no metric named", where="metric", hint='such as "accuracy"')
    names = [name_of(one) for one in measures]
    return sequential(
        lambda start, count: measured_by_running(scenario.replace(first=start, replications=count), measures),
        half_widths(names, half_width),
        start=scenario.first,
        first=first,
        most=most,
    )


def sequential(
    sample: Sample, targets: Mapping[str, float], *, start: int = 0, first: int = FIRST, most: int = MOST
) -> ReplicationResult:
    """Draw samples until each named quantity's 95 % Student's t interval is narrow enough; see `replicate` for the law.

    `sample(start, count)` gives, for each name of `targets` (half-widths) in order, one value for each of the replications
    from `start` on.
    """
    if not 2 <= first <= most:  # noqa: PLR2004  # one replication has no spread
        raise UsageError("an interval needs two replications or more", where="first", given=first, allowed=f"2 to {most}")
    values = np.zeros((len(targets), 0))
    rounds: list[tuple[str | float, ...]] = []
    due = first
    while True:
        values = np.concatenate([values, np.stack(sample(start + values.shape[1], due))], axis=1)
        count = values.shape[1]
        looks = [_look(each, name, count) for name, each in zip(targets, values, strict=True)]
        rounds += [(count, *astuple(one)[:4], targets[one.metric]) for one in looks]
        pairs = zip(looks, values, strict=True)
        narrow = all(0.0 < one.half_width <= targets[one.metric] and enough(each) for one, each in pairs)
        flat = any(not one.half_width > 0.0 for one in looks)  # NaN too
        if narrow or count >= most or (flat and count >= PATIENCE):
            break
        due = min(max(int(count * (GROWTH - 1.0)), 1), most - count)
    each = pl.DataFrame({"rep": start + np.arange(count)} | dict(zip(targets, values, strict=True)))
    return ReplicationResult(
        estimates={
            name: _estimate(row, name, finite=np.isfinite(targets[name])) for name, row in zip(targets, values, strict=True)
        },
        targets=dict(targets),
        each=each.with_columns(pl.exclude("rep").fill_nan(None)),
        rounds=pl.DataFrame(rounds, orient="row", schema=["replications", "metric", "value", "low", "high", "asked"]),
    )


def half_widths(names: Sequence[str], half_width: float | Mapping[str, float]) -> dict[str, float]:
    """The half-width asked of each metric by name; raises `UsageError` for one that is missing or not above 0."""
    widths = half_width if not isinstance(half_width, (int, float)) else dict.fromkeys(names, float(half_width))
    for name in names:
        if name not in widths:
            raise UsageError("no half-width for this metric", where="half_width", given=name, hint="name each metric")
        if not 0.0 < widths[name] < np.inf:
            raise UsageError("not a half-width", where="half_width", given=widths[name], allowed="above 0")
    return {name: widths[name] for name in names}


def _estimate(each: Array, name: str, *, finite: bool) -> Estimate:
    plain = estimate(each, name)  # which refuses too few values, or all the same
    return _look(each, name, plain.replications) if finite else plain


def _look(each: Array, name: str, count: int) -> Estimate:
    value, low, high = ends_of(each)
    return Estimate(metric=name, value=value, low=low, high=high, replications=count)


def skewness(values: Array) -> float:
    """The third standardised moment, NaN left out; 0 of equal values, and of a share, whose interval is exact."""
    there = values[~np.isnan(values)]
    away = there - there.mean() if len(there) else there
    variance = float((away**2).mean()) if len(there) else 0.0
    return float((away**3).mean() / variance**1.5) if variance > 0.0 and not _share(there) else 0.0


def enough(values: Array) -> bool:
    """Whether there are as many values as their skewness wants."""
    return bool((~np.isnan(values)).sum() >= needed(values))


def needed(values: Array) -> int:
    """How many values bring their mean near enough to normal: 25 γ², and of skewed values 100 or more, NaN left out.

    A few values of a long tail often miss the tail: they show little skewness, a low mean and a narrow interval. So stopping
    waits, and no run is doubted for a skewness that it has waited for: those left would be the ones that missed the tail.
    Source: Cochran, 1977, 2.15.

    >>> needed(np.array([1.0, 2.0, 3.0])), needed(np.array([0.0] * 99 + [5.0]))
    (0, 2426)
    """
    size, count = abs(skewness(values)), max(int((~np.isnan(values)).sum()), 1)
    skewed = size > min(SKEWED, NOTABLE * math.sqrt(6.0 / count))
    return max(FEWEST, math.ceil(COCHRAN * size**2)) if skewed else 0


def ends_of(values: Array) -> tuple[float, float, float]:
    """Mean and the ends of the interval that covers it in 95 % of stops, NaN left out.

    Of values that are 0 or 1 Clopper and Pearson's, else Student's t; where the skewness is above 1 the wider, on each side,
    of it and Hall's: t + γ t² / 3 + γ² t³ / 27 + γ / 6n inverted, with 2.5 times the skewness γ, as few values show too
    little of it. Stopping at the first narrow interval costs coverage: so the level of shares and skewed values is 97.5 %,
    and of fewer than 64 values 96.5 %.
    Sources: Clopper and Pearson, 1934; Hall, 1992.

    >>> [round(end, 3) for end in ends_of(np.array([0.0] * 9 + [1.0]))]
    [0.1, 0.001, 0.491]
    >>> [round(end, 3) for end in ends_of(np.array([1.0, 2.0, 3.0]))]
    [2.0, -1.004, 5.004]
    """
    there = values[~np.isnan(values)]
    mean, low, high = student(there, confidence=STOPPED_EARLY if len(there) < PATIENCE else CONFIDENCE)
    if _share(there):
        return mean, *_exact(int(there.sum()), len(there))
    size = skewness(there)
    if abs(size) <= SKEWED:
        return mean, low, high
    mean, low, high = student(there, confidence=STOPPED)
    count, gamma = len(there), INFLATED * size
    reach = (high - low) / 2.0 / float(there.std(ddof=1))
    shifts = [3.0 / gamma * (np.cbrt(1.0 + gamma * (end - gamma / (6.0 * count))) - 1.0) for end in (reach, -reach)]
    least, most = (mean - float(there.std(ddof=1)) * float(one) for one in shifts)
    return mean, min(low, least), max(high, most)


def _share(values: Array) -> bool:
    return bool(np.isin(values, (0.0, 1.0)).all()) and len(np.unique(values)) > 1


def _exact(ones: int, count: int) -> tuple[float, float]:
    from scipy.special import betaincinv

    tail = (1.0 - STOPPED) / 2.0
    return float(betaincinv(ones, count - ones + 1, tail)), float(betaincinv(ones + 1, count - ones, 1.0 - tail))
