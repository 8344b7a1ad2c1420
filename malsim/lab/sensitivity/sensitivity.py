"""Sensitivity analysis of a metric: single moves, Sobol indices, flat settings and confounded pairs."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.base.intervals import mean_of
from malsim.base.limits import within
from malsim.base.plain_text import listed
from malsim.lab.sensitivity.one_at_a_time import alike, moves, nudges, of_rules, swings
from malsim.lab.sensitivity.sobol import sobol
from malsim.lab.space.settings import changed, scenario_of
from malsim.lab.space.space import Space
from malsim.lab.studies.measure import label_of, measured_by_running, name_of
from malsim.lab.studies.pool import executor_of, in_order, must_travel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from malsim.lab.space.settings import ScenarioOrPath
    from malsim.lab.studies.measure import Array, Measure
    from malsim.showing.plots.style import Sheet
    from malsim.sim.settings.scenario import Scenario

    Runner = Callable[[Sequence[Mapping[str, Any]]], list[Array]]

STEP = 0.2
MOST_NAMED = 6


@dataclass(frozen=True)
class SensitivityFigures:
    """Figures of one study; each returns a matplotlib figure that notebooks show and `savefig` writes."""

    metric: str
    base: float
    moves: pl.DataFrame
    sobol: pl.DataFrame | None

    def tornado(self, title: str = "") -> Sheet:
        """Plot the range of the metric for each setting moved alone."""
        from malsim.showing.plots.studies.settings import tornado

        return tornado(self.moves, base=self.base, label=label_of(self.metric), title=title)

    def indices(self, title: str = "") -> Sheet:
        """Plot the first and total Sobol indices; raises `UsageError` if no space was given."""
        from malsim.showing.plots.studies.settings import indices

        if self.sobol is None:
            raise UsageError("no Sobol indices were estimated", where="plot.indices", hint="give sensitivity a space")
        return indices(self.sobol, label=self.metric, title=title)


@dataclass(frozen=True, kw_only=True, repr=False)
class Sensitivity:
    """Result of `sensitivity()`.

    `base` is the metric's mean as the scenario stands; `tornado` what single moves do to it (see `one_at_a_time.swings`);
    `frame` the Sobol indices (see `sobol.sobol`), None where no space was given; `pairs` the settings that cannot be told
    apart (see `one_at_a_time.alike`).
    """

    metric: str
    base: float
    replications: int
    tornado: pl.DataFrame
    frame: pl.DataFrame | None
    pairs: pl.DataFrame

    @property
    def flat(self) -> list[str]:
        """Settings on which the metric does not depend: a total index below 0.01, or no single move that changes a run."""
        if self.frame is not None:
            return self.frame.filter("flat")["setting"].to_list()
        return self.tornado.filter("flat")["setting"].unique(maintain_order=True).to_list()

    @property
    def plot(self) -> SensitivityFigures:
        return SensitivityFigures(self.metric, self.base, self.tornado, self.frame)

    def __repr__(self) -> str:
        lines = [f"{self.metric}: {self.base:.4g} as it stands, over {self.replications} replications"]
        if self.frame is not None:
            for row in self.frame.sort("total", descending=True).to_dicts()[:MOST_NAMED]:
                first, total = (f"{row[k]:.3f} [{row[k + '_low']:.3f}, {row[k + '_high']:.3f}]" for k in ("first", "total"))
                lines.append(f"  {row['setting']}: first {first}, total {total}")
        else:
            widest = self.tornado.filter(~pl.col("flat")).unique("setting", keep="first", maintain_order=True)
            lines += [f"  {row['setting']} swings it by {row['swing']:.4g}" for row in widest.to_dicts()[:MOST_NAMED]]
        if self.flat:
            lines.append(f"  flat: {listed(self.flat, MOST_NAMED)}")
        for row in self.pairs.to_dicts()[:MOST_NAMED]:
            lines.append(f"  confounded: {row['one']} and {row['other']} ({row['together']} direction)")
        return "\n".join(lines)


def sensitivity(
    scenario: ScenarioOrPath,
    space: Mapping[str, Sequence[Any]] | None = None,
    *,
    metric: Measure = "brier",
    points: int = 64,
    step: float = STEP,
    executor: Any = None,
    workers: int | None = None,
    progress: bool = True,
) -> Sensitivity:
    """Measure how much a metric or margin depends on each setting.

    Each setting is moved alone to both ends of its range (or to its other choices), on the same random numbers. With a
    space, Sobol indices are estimated over it too, which see settings that matter only together.

    Parameters
    ----------
    space
        Setting names to (low, high), or to choices. If None, every rule, a `step` of its present value down and up.
    metric
        One measure; see `measure.measured`. The mean over `scenario.replications` is studied.
    points
        Of the Sobol sequence, a power of two; the scenario is run points · (settings + 2) times, and four times a setting.
    executor
        Any `concurrent.futures` executor or a Dask client, or `workers` new processes; one by one here, if neither. Who
        computes changes nothing.

    Raises
    ------
    UsageError
        For a bad space or metric, one replication of a scenario with chance in it, and a metric that nothing changes.
    """
    scenario = scenario_of(scenario)
    if scenario.replications < 2 and _by_chance(scenario):  # noqa: PLR2004  # one replication has no spread
        hint = "scenario.replace(replications=32)"
        raise UsageError("at least two replications are needed", where="sensitivity", given=1, hint=hint)
    within({"points": points}, where="sensitivity")
    ranges = of_rules(scenario, step) if space is None else Space.of(space, scenario)
    single = moves(ranges)
    with _runner(scenario, metric, executor, workers, progress=progress) as run:
        values, *item = run([{}, *({move.setting: move.to} for move in single)])
        _refuse_unknown(values, metric)
        base, tornado = float(np.nanmean(values)), swings(single, values, item)
        small = nudges(ranges, tornado.filter("flat")["setting"].unique())
        pairs = alike(small, run([{move.setting: move.to} for move in small]))
        frame = None
        if space is not None:

            def means(shares: Array) -> Array:
                return np.array([mean_of(item) for item in run([ranges.values(row) for row in shares])])

            frame = sobol(means, ranges.names, points=points, seed=scenario.seed)
    if space is None and tornado["flat"].all():
        hint = "no single rule matters to it; take another metric, or a longer run"
        raise UsageError("no setting changes the metric", where="sensitivity", given=base, hint=hint)
    return Sensitivity(
        metric=name_of(metric),
        base=base,
        replications=scenario.replications,
        tornado=tornado,
        frame=frame,
        pairs=pairs,
    )


@contextlib.contextmanager
def _runner(scenario: Scenario, metric: Measure, executor: Any, workers: int | None, *, progress: bool) -> Iterator[Runner]:
    alone = executor is None and workers is None
    if executor is None and not alone:
        must_travel(*filter(callable, (metric, scenario.rules.effective)))
    with contextlib.nullcontext() if alone else executor_of(executor, workers=workers) as pool:

        def run(settings: Sequence[Mapping[str, Any]]) -> list[Array]:
            jobs = [partial(_values, scenario, values, metric) for values in settings]
            return in_order(jobs, pool, title=f"sensitivity of {scenario.name}", unit="run", progress=progress)

        yield run


def _values(scenario: Scenario, settings: Mapping[str, Any], metric: Measure) -> Array:
    return measured_by_running(changed(scenario, settings, where="sensitivity"), [metric])[0]


def _refuse_unknown(values: Array, metric: Measure) -> None:
    if np.isnan(values).all():
        hint = "a time has no mean where more than a half of its spells outlast the run: run more days"
        raise UsageError("the metric has no value", where=name_of(metric), hint=hint)


def _by_chance(scenario: Scenario) -> bool:
    return bool(scenario.writers or scenario.reader or scenario.reviewers or any(fact.hazard for fact in scenario.facts))
