"""Sensitivity analysis of a metric: one-at-a-time changes, Sobol indices, flat settings and confounded pairs."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.base.intervals import ends, mean_of
from malsim.base.limits import within
from malsim.base.plain_text import listed
from malsim.lab.sensitivity.one_at_a_time import alike, moves, nudges, of_rules, swings
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
FLAT = 0.01
RESAMPLES = 400
LEAST = 8


@dataclass(frozen=True)
class SensitivityFigures:
    """Figures of a sensitivity study. Each method returns a matplotlib figure."""

    result: Sensitivity

    def tornado(self, title: str = "") -> Sheet:
        """Plot the range of the metric when each setting is changed alone."""
        from malsim.showing.plots.studies.settings import tornado

        label = label_of(self.result.metric)
        return tornado(self.result.tornado, base=self.result.base, label=label, title=title)

    def indices(self, title: str = "") -> Sheet:
        """Plot the first-order and total Sobol indices. Raises `UsageError` if no space was given."""
        from malsim.showing.plots.studies.settings import indices

        if self.result.frame is None:
            raise UsageError("no Sobol indices were estimated", where="plot.indices", hint="pass a space to sensitivity")
        return indices(self.result.frame, label=self.result.metric, title=title)


@dataclass(frozen=True, kw_only=True, repr=False)
class Sensitivity:
    """Result of `sensitivity()`.

    `base` is the metric's mean under the original settings. `tornado` has the effects of moving one setting (see
    `one_at_a_time.swings`). `frame` has the Sobol indices (see `sobol`; None without a space). `pairs` has the confounded
    pairs of settings (see `one_at_a_time.alike`).
    """

    metric: str
    base: float
    replications: int
    tornado: pl.DataFrame
    frame: pl.DataFrame | None
    pairs: pl.DataFrame

    @property
    def flat(self) -> list[str]:
        """Settings without effect: the total index is below 0.01 or, if no space was given, no move changes the metric."""
        if self.frame is not None:
            return self.frame.filter("flat")["setting"].to_list()
        return self.tornado.filter("flat")["setting"].unique(maintain_order=True).to_list()

    @property
    def plot(self) -> SensitivityFigures:
        return SensitivityFigures(self)

    def __repr__(self) -> str:
        lines = [f"{self.metric}: {self.base:.4g} under the present settings, over {self.replications} replications"]
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

    Each setting alone is moved to both ends of its range (or to its other choices), on the same random numbers. With a
    space, Sobol indices, which show interactions, are also estimated.

    Parameters
    ----------
    space
        Map of setting names to (low, high), or to choices. If None, every rule is varied by ± `step` of its value.
    metric
        One measure, whose mean over `scenario.replications` is analysed; see `measure.measured`.
    points
        Number of Sobol points, a power of two. There are points · (settings + 2) runs, plus up to four per setting.
    executor
        Any `concurrent.futures` executor or a Dask client, or `workers` new processes; if neither is given, runs are made
        one by one in this process. The result is the same.

    Raises
    ------
    UsageError
        If the space or metric is invalid, a random scenario has one replication, or no setting changes the metric.
    """
    scenario = scenario_of(scenario)
    random = scenario.writers or scenario.reader or scenario.reviewers or any(fact.hazard for fact in scenario.facts)
    if scenario.replications < 2 and random:  # noqa: PLR2004  # one replication has no spread
        hint = "use scenario.replace(replications=32)"
        raise UsageError("at least two replications are needed", where="sensitivity", given=1, hint=hint)
    within({"points": points}, where="sensitivity")
    ranges = of_rules(scenario, step) if space is None else Space.of(space, scenario)
    single = moves(ranges)
    with _runner(scenario, metric, executor, workers, progress=progress) as run:
        values, *moved = run([{}, *({move.setting: move.to} for move in single)])
        if np.isnan(values).all():
            hint = "run more days, because the mean time is unknown if more than half of the spells outlast the run"
            raise UsageError("the metric has no value", where=name_of(metric), hint=hint)
        base, tornado = float(np.nanmean(values)), swings(single, values, moved)
        small = nudges(ranges, tornado.filter("flat")["setting"].unique())
        pairs = alike(small, run([{move.setting: move.to} for move in small]))
        frame = None
        if space is not None:

            def means(shares: Array) -> Array:
                return np.array([mean_of(column) for column in run([ranges.values(row) for row in shares])])

            frame = sobol(means, ranges.names, points=points, seed=scenario.seed)
    if space is None and tornado["flat"].all():
        hint = "use another metric or a longer run"
        raise UsageError("no setting changes the metric", where="sensitivity", given=base, hint=hint)
    return Sensitivity(
        metric=name_of(metric), base=base, replications=scenario.replications, tornado=tornado, frame=frame, pairs=pairs
    )


@contextlib.contextmanager
def _runner(scenario: Scenario, metric: Measure, executor: Any, workers: int | None, *, progress: bool) -> Iterator[Runner]:
    alone = executor is None and workers is None
    if executor is None and not alone:
        must_travel(*filter(callable, (metric, scenario.rules.effective)))
    with contextlib.nullcontext() if alone else executor_of(executor, workers=workers) as pool:

        def run(settings: Sequence[Mapping[str, Any]]) -> list[Array]:
            variants = [changed(scenario, values, where="sensitivity") for values in settings]
            jobs = [partial(measured_by_running, variant, [metric]) for variant in variants]
            columns = in_order(jobs, pool, title=f"sensitivity of {scenario.name}", unit="run", progress=progress)
            return [column for (column,) in columns]

        yield run


def sobol(evaluate: Callable[[Array], Array], names: Sequence[str], *, points: int = 64, seed: int = 0) -> pl.DataFrame:
    """Estimate first-order and total Sobol indices of a function on the unit cube, with 95 % bootstrap intervals.

    S_i = Var(E[f | x_i]) / Var(f) is the share of the variance due to x_i alone; T_i = E[Var(f | all but x_i)] / Var(f)
    also counts its interactions. The estimators are those of Saltelli et al. (2010) over a scrambled Sobol sequence
    (`scipy.stats.sobol_indices`); intervals are the 2.5 % to 97.5 % range over 400 resamples of the points, drawn with
    `seed`. A setting is flat if the upper end of its total index is below 0.01.

    `evaluate` maps points, shape (n, settings), to values, shape (n,). It is called once, with points · (settings + 2)
    rows. `points` is a power of two, 8 or more. Columns: setting, first, first_low, first_high, total, total_low,
    total_high, flat. Raises `UsageError` for an invalid number of points, a value that is not finite, or a constant.
    """
    from scipy.stats import qmc

    count = len(names)
    if points < LEAST or points & (points - 1):
        raise UsageError("out of bounds", where="points", given=points, allowed=f"a power of two, {LEAST} or more")
    both = qmc.Sobol(2 * count, rng=np.random.Generator(np.random.Philox(seed))).random(points)
    a, b = both[:, :count], both[:, count:]
    ab = np.repeat(a[None], count, axis=0)  # copies of `a`, each with one setting's column taken from `b`
    ab[np.arange(count), :, np.arange(count)] = b.T
    values = np.asarray(evaluate(np.concatenate([a, b, ab.reshape(-1, count)])), dtype=np.float64)
    if not np.isfinite(values).all():
        hint = "run more days, or use another metric, because some replications have no value"
        raise UsageError("the metric has no value at a point of the space", where="sobol", hint=hint)
    if (values == values[0]).all():
        problem, hint = "the metric is the same at every point of the space", "use other settings or another metric"
        raise UsageError(problem, where="sobol", given=float(values[0]), hint=hint)
    f_a, f_b, f_ab = values[:points], values[points : 2 * points], values[2 * points :].reshape(count, points)
    rows = np.random.Generator(np.random.Philox(seed)).integers(points, size=(RESAMPLES, points))
    low, high = ends(np.stack([_indices(f_a[row], f_b[row], f_ab[:, row]) for row in rows]), axis=0)
    columns = {"setting": list(names)}
    for name, *index in zip(("first", "total"), _indices(f_a, f_b, f_ab), low, high, strict=True):
        columns |= zip((name, f"{name}_low", f"{name}_high"), index, strict=True)
    return pl.DataFrame(columns).with_columns(flat=pl.col("total_high") < FLAT)


def _indices(f_a: Array, f_b: Array, f_ab: Array) -> Array:
    """Return the first-order and total indices, shape (2, settings), or NaN if all values of a resample are equal."""
    from scipy.stats import sobol_indices

    if np.ptp(f_a) == np.ptp(f_b) == 0.0 and f_a[0] == f_b[0]:
        return np.full((2, len(f_ab)), np.nan)
    count, f_ab = len(f_ab), f_ab if len(f_ab) > 1 else np.repeat(f_ab, 2, axis=0)  # scipy needs at least two settings
    values: dict[Literal["f_A", "f_B", "f_AB"], Array] = {"f_A": f_a[None], "f_B": f_b[None], "f_AB": f_ab[:, None]}
    result = sobol_indices(func=values, n=len(f_a))
    return np.stack([result.first_order, result.total_order])[:, :count]
