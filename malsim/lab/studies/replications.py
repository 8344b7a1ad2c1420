"""As many replications as an answer needs, and no more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.errors import UsageError
from malsim.lab.space.given import scenario_of
from malsim.lab.studies.measure import Estimate, estimate, interval, label_of, measured_by_running, name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from malsim.lab.space.given import ScenarioOrPath
    from malsim.lab.studies.measure import Array, Measure
    from malsim.plot.style import Sheet

    Sample = Callable[[int, int], list[Array]]

__all__ = ["FIRST", "MOST", "Replicated", "half_widths", "replicate", "sequential"]

FIRST = 16
GROWTH = 1.5
PATIENCE = 64
MOST = 4096


@dataclass(frozen=True, kw_only=True, repr=False)
class Replicated:
    """What replicate() found: an estimate a metric, and whether every half-width asked was reached.

    `each` has a row a replication (rep, then a column a metric); `rounds` a row a look and metric: replications, metric,
    value, low, high, asked.
    """

    estimates: dict[str, Estimate]
    asked: dict[str, float]
    each: pl.DataFrame
    rounds: pl.DataFrame

    @property
    def reached(self) -> bool:
        """Whether every interval is as narrow as asked."""
        return all(found.half_width <= self.asked[name] for name, found in self.estimates.items())

    @property
    def replications(self) -> int:
        """How many were run."""
        return self.each.height

    @property
    def frame(self) -> pl.DataFrame:
        """One row a metric: metric, value, low, high, replications (with a value), asked (half-width), reached."""
        rows = [(*_row(one), self.asked[name], one.half_width <= self.asked[name]) for name, one in self.estimates.items()]
        return pl.DataFrame(
            rows, orient="row", schema=["metric", "value", "low", "high", "replications", "asked", "reached"]
        )

    def plot(self, title: str = "") -> Sheet:
        """The interval at each look, beside the half-width asked."""
        from malsim.plot.studies.narrowing import narrowing

        return narrowing(self.rounds, labels={name: label_of(name) for name in self.asked}, title=title)

    def __getitem__(self, metric: str) -> Estimate:
        return self.estimates[metric]

    def __repr__(self) -> str:
        """One line a metric."""
        lines = []
        for name, found in self.estimates.items():
            missed = f"; ± {self.asked[name]:g} was asked and not reached" if found.half_width > self.asked[name] else ""
            lines.append(f"{found}{missed}")
        return "\n".join(lines)


def replicate(
    scenario: ScenarioOrPath,
    *,
    metric: Measure | Sequence[Measure] = "accuracy",
    half_width: float | Mapping[str, float] = 0.01,
    first: int = FIRST,
    most: int = MOST,
) -> Replicated:
    """Run more replications until every metric's 95 % interval is mean ± `half_width` or narrower, or there are `most`.

    The interval is Student's t over replications. Replications are numbered on from the scenario's first, so the first n are
    the same lives however many follow; `scenario.replications` is not looked at.

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
    sample: Sample, asked: Mapping[str, float], *, start: int = 0, first: int = FIRST, most: int = MOST
) -> Replicated:
    """Draw samples until each named quantity's 95 % Student's t interval is narrow enough; see `replicate` for the law.

    `sample(start, count)` gives, for each name of `asked` in order, one value for each of the replications from `start` on.
    """
    if not 2 <= first <= most:  # noqa: PLR2004  # one replication has no spread
        raise UsageError("an interval needs two replications or more", where="first", given=first, allowed=f"2 to {most}")
    held = np.zeros((len(asked), 0))
    rounds: list[tuple[str | float, ...]] = []
    due = first
    while True:
        held = np.concatenate([held, np.stack(sample(start + held.shape[1], due))], axis=1)
        done = held.shape[1]
        looks = [Estimate(metric=name, replications=done, **_ends(each)) for name, each in zip(asked, held, strict=True)]
        rounds += [(done, *_row(one)[:4], asked[one.metric]) for one in looks]
        narrow = all(0.0 < one.half_width <= asked[one.metric] for one in looks)
        flat = any(not one.half_width > 0.0 for one in looks)  # NaN too
        if narrow or done >= most or (flat and done >= PATIENCE):
            break
        due = min(max(int(done * (GROWTH - 1.0)), 1), most - done)
    each = pl.DataFrame({"rep": start + np.arange(done)} | dict(zip(asked, held, strict=True)))
    return Replicated(
        estimates={name: estimate(values, name) for name, values in zip(asked, held, strict=True)},
        asked=dict(asked),
        each=each.with_columns(pl.exclude("rep").fill_nan(None)),
        rounds=pl.DataFrame(rounds, orient="row", schema=["replications", "metric", "value", "low", "high", "asked"]),
    )


def half_widths(names: Sequence[str], half_width: float | Mapping[str, float]) -> dict[str, float]:
    """The half-width asked of each metric by name; raises `UsageError` for one that is missing or not above 0."""
    given = half_width if not isinstance(half_width, (int, float)) else dict.fromkeys(names, float(half_width))
    for name in names:
        if name not in given:
            raise UsageError("no half-width for this metric", where="half_width", given=name, hint="name each metric")
        if not 0.0 < given[name] < np.inf:
            raise UsageError("not a half-width", where="half_width", given=given[name], allowed="above 0")
    return {name: given[name] for name in names}


def _ends(each: Array) -> dict[str, float]:
    return dict(zip(("value", "low", "high"), interval(each), strict=True))


def _row(found: Estimate) -> tuple[str, float, float, float, int]:
    return found.metric, found.value, found.low, found.high, found.replications
