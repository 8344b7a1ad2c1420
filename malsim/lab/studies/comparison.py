"""Comparison of two scenarios under common random numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.intervals import welch
from malsim.lab.space.settings import scenario_of
from malsim.lab.studies.measure import Estimate, label_of, measurements_by_running, name_of
from malsim.lab.studies.replications import FIRST, MOST, half_widths, sequential
from malsim.sim.record.measurement import Paired

if TYPE_CHECKING:
    from malsim.lab.space.settings import ScenarioOrPath
    from malsim.lab.studies.measure import Measure
    from malsim.showing.plots.style import Sheet
    from malsim.sim.record.measurement import Measurement


@dataclass(frozen=True, kw_only=True, repr=False)
class PairedComparison:
    """Result of comparing two paired runs: the mean of b − a with its 95 % interval, both means, and the gain from pairing.

    `each` has one row per replication: rep, a, b, difference. `unpaired` is the interval (Welch's) that as many runs on
    independent random numbers would have.
    """

    metric: str
    difference: Estimate
    a: Estimate | None
    b: Estimate | None
    unpaired: tuple[float, float]
    each: pl.DataFrame

    @property
    def differs(self) -> bool:
        return self.difference.low > 0.0 or self.difference.high < 0.0

    @property
    def alike(self) -> bool:
        """True if b − a is the same in every pair."""
        return self.each["difference"].drop_nulls().n_unique() == 1

    @property
    def saved(self) -> float:
        """Number of unpaired replications that are as informative as one paired replication: (s²a + s²b) / s²(b − a)."""
        pairs = self.each.drop_nulls()
        variance = [float(np.var(pairs[name].to_numpy(), ddof=1)) for name in ("a", "b", "difference")]
        return (variance[0] + variance[1]) / variance[2] if variance[2] else np.inf

    @property
    def frame(self) -> pl.DataFrame:
        """Frame with the means of a and b and their paired and unpaired differences, in columns what, value, low, high."""
        mean, sides = self.difference, (("a", self.a), ("b", self.b))
        rows = [(n, side.value if side else self.each[n].mean(), side and side.low, side and side.high) for n, side in sides]
        rows += [("b − a, paired", mean.value, mean.low, mean.high), ("b − a, unpaired", mean.value, *self.unpaired)]
        return pl.DataFrame(rows, orient="row", schema=["what", "value", "low", "high"])

    def plot(self, title: str = "") -> Sheet:
        """Plot both scenarios' values per replication, and their difference with its paired and its unpaired interval."""
        from malsim.showing.plots.studies.estimates import paired

        return paired(self.each, self.frame, label=label_of(self.metric), title=title)

    def __repr__(self) -> str:
        mean = self.difference
        if self.alike:
            difference = f"b − a = {mean.value:+.4g}" if mean.value else "no difference"
            return f"{self.metric}: {difference}, in each of {mean.replications} pairs"
        verdict = "they differ" if self.differs else "no difference shown"
        return (
            f"{self.metric}: b − a = {mean.value:+.4g} [{mean.low:+.4g}, {mean.high:+.4g}], {verdict}\n"
            f"  over {mean.replications} pairs; unpaired it would take {self.saved:.3g} times as many"
        )


def compare(
    a: ScenarioOrPath,
    b: ScenarioOrPath,
    *,
    metric: Measure = "accuracy",
    replications: int = 100,
    half_width: float | None = None,
    most: int = MOST,
) -> PairedComparison:
    """Compare two scenarios, replication by replication, under common random numbers.

    Every draw has an address (seed, replication, population, member, turn, purpose), so the parts that both scenarios share
    have equal draws; b runs with a's seed and replication numbers. The interval is that of `difference_interval`. If the
    values are equal in every pair, the difference is exactly 0.

    Parameters
    ----------
    a, b
        Two scenarios; often `b = a.replace(rules={…})`.
    metric
        One measure; see `measure.measured`.
    replications
        Number of pairs, 2 or more.
    half_width
        If given, pairs are added as in `replicate` until the difference has this half-width, or `most` pairs were run.

    Raises
    ------
    UsageError
        If fewer than two pairs have a value in both scenarios.
    """
    a, b, name = scenario_of(a), scenario_of(b), name_of(metric)

    def pairs(start: int, count: int) -> list[Paired]:
        same = {"first": start, "replications": count, "seed": a.seed}
        new = Paired(*(measurements_by_running(scenario.replace(**same), [metric])[0] for scenario in (a, b)))
        both.append(both[-1].and_more(new) if both else new)
        return [new]

    both: list[Paired] = []
    if half_width is None:
        target, first, most = np.inf, replications, replications
    else:
        target, first = half_widths([name], half_width)[name], min(FIRST, most)
    result = sequential(pairs, {f"{name}, b − a": target}, start=a.first, first=first, most=most, alike=True)
    left, right = both[-1].left, both[-1].right
    columns = {"rep": result.each["rep"], "a": left.parts, "b": right.parts, "difference": result.each.to_series(1)}
    return PairedComparison(
        metric=name,
        difference=next(iter(result.estimates.values())),
        a=_own_mean(left, name),
        b=_own_mean(right, name),
        unpaired=welch(right.parts, left.parts),
        each=pl.DataFrame(columns).with_columns(pl.col("a", "b").fill_nan(None)),
    )


def _own_mean(side: Measurement, name: str) -> Estimate | None:
    """Return the mean of one side with its interval, or None if all replications are equal."""
    return Estimate.of(side, name) if len(np.unique(side.parts[~np.isnan(side.parts)])) > 1 else None
