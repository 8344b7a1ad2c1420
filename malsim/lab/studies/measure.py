"""Measures with one number per replication of a run: a metric, a property's margin, a metric of a series, or a function."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from malsim.base.errors import MalsimError, UsageError, nearest
from malsim.base.intervals import ANY, SHARE, Bounds
from malsim.lab.studies.price_figures import PRICES, price_figure
from malsim.lab.studies.warmup import steady_mean
from malsim.scenario.checks.checks import value_of
from malsim.scenario.checks.series_metrics import METRICS as SERIES
from malsim.scenario.checks.series_metrics import measure
from malsim.scenario.properties import Property
from malsim.scenario.properties.frames import trace_of
from malsim.scenario.properties.margins import Margins
from malsim.sim import bench
from malsim.sim.record.measurement import Measurement, Paired
from malsim.sim.record.metrics import METRICS, by_replication, measurements
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from malsim.sim.run import Run
    from malsim.sim.settings.scenario import Scenario
    from malsim.sim.world.censored_times import CensoredMean

Array: TypeAlias = NDArray[np.float64]
Measure: TypeAlias = "str | Callable[[Run], Array | float]"

HIGH = {
    "accuracy", "answered", "auc", "auc_stated", "acted_share", "lessons_written", "grounded_share", "autonomy",
    "price of the lie", "gap",
}  # fmt: skip
STEADY = "steady"
UNITS = {
    "expanded_per_turn": "cells/turn", "words_per_turn": "words/turn", "lessons_learned": "observations",
    "lessons_written": "observations", "lessons_lost": "observations", "cells": "cells",
    "rise_time": "d", "settling_time": "d", "peak_time": "d", "overshoot": "%", "undershoot": "%",
}  # fmt: skip
OF_FACTS = re.compile(r"accuracy of (\S+)")
OF_SERIES = re.compile(rf"({'|'.join((*SERIES, STEADY))}) of (.+)")


def measured(run: Run, metric: Measure) -> Array:
    """Measure a run and return one number per replication, shape (replications,), with NaN for those without a value.

    Times and calibration errors of a run are not means of these values. See `measurement`, also for the allowed measures.
    """
    return measurement(run, metric).each


def measurement(run: Run, metric: Measure) -> Measurement:
    """Measure a run. The `mean()` of the result uses the estimator that suits this kind of measure.

    `metric` is one of

    - the name of a figure: `brier`, `log_loss`, `ece`, `rmse_bins`, `auc`, `accuracy`, `false_acted` … (times and
      calibration errors pool the replications);
    - the text of a property, measured by its margin: `always (eff(obs_a1a1) >= 0.3)`;
    - `accuracy of host`: the share of right answers about a fact, or about all facts with this name (host-1, host-2 …);
    - a metric of a series: `mean of right(pump)`, `overshoot of eff(obs_a1a1)`, or `steady of belief(pump)`, its mean after
      the warm-up (MSER-5);
    - `price of the lie`, `price of the truth` or `gap`, for the scenario's rules or law (see `price_figure`);
    - a function from the run to an array with one number per replication (or a number for one replication).

    Raises
    ------
    UsageError
        For any other metric, a figure that this run does not have (no truth given, no reader), or a function that does not
        return one number per replication.
    """
    count = run.scenario.replications
    if callable(metric):
        values = np.atleast_1d(np.asarray(metric(run), dtype=np.float64))
        if values.shape != (count,):
            problem, given = "a measure must return one number per replication", f"shape {values.shape}"
            raise UsageError(problem, where=name_of(metric), given=given, allowed=f"shape ({count},)")
        return Measurement(values)
    if metric in METRICS:
        return _figure(run, metric)
    if metric in PRICES:
        return Measurement(np.full(count, price_figure(run.scenario, metric)))
    if about := OF_FACTS.fullmatch(metric.strip()):
        return Measurement(_of_facts(run, about[1]), SHARE)
    if series := OF_SERIES.fullmatch(metric.strip()):
        return Measurement(_of_series(run, *series.groups()))
    return Measurement(_property(metric).margin(trace_of(run, metrics=by_replication(run))).each)


def measured_by_running(scenario: Scenario, metrics: Sequence[Measure]) -> list[Array]:
    """Run a scenario and return one array per measure, with one number per replication."""
    return [measurement.parts for measurement in measurements_by_running(scenario, metrics)]


def measurements_by_running(scenario: Scenario, metrics: Sequence[Measure]) -> list[Measurement]:
    """Run a scenario and measure it. Cells are recorded only if a measure needs them.

    Raises `UsageError` as `measurement` does. Unknown metrics are rejected before the scenario is run.
    """
    for metric in metrics:
        if isinstance(metric, str) and metric not in METRICS and not _is_named(metric):
            _property(metric)
    figures = all(isinstance(metric, str) and (metric in METRICS or metric in PRICES) for metric in metrics)
    run = bench.run(scenario.replace(record="bands") if figures else scenario)
    return [measurement(run, metric) for metric in metrics]


def is_better_high(metric: Measure) -> bool:
    """Return True if higher is better (accuracy, margins), and False for losses, metrics of series, and functions."""
    if callable(metric):
        return False
    return metric in HIGH or bool(OF_FACTS.fullmatch(metric.strip())) or not (metric in METRICS or _is_named(metric))


def name_of(metric: Measure) -> str:
    return metric if isinstance(metric, str) else getattr(metric, "__name__", "measure")


def label_of(metric: str) -> str:
    """Return a metric's name with its unit, for use as an axis label.

    >>> label_of("brier"), label_of("settling_time of eff(obs_a1a1)"), label_of("mean of belief(pump)")
    ('brier (1)', 'settling_time of eff(obs_a1a1) (d)', "mean of belief(pump) (the value's unit)")
    """
    series = OF_SERIES.fullmatch(metric)
    if metric in METRICS or OF_FACTS.fullmatch(metric) or (series and series[1] in UNITS):
        return f"{metric} ({UNITS.get(series[1] if series else metric, '1')})"
    if series or metric.isidentifier():
        return f"{metric} (the value's unit)"
    return f"margin of {metric} (units compared)"


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """Mean of a measure over replications, with its 95 % interval and the number of replications that have a value.

    If the measure is a time, `time` describes its spells; the mean is NaN if most are estimated to outlast the longest.
    """

    metric: str
    value: float
    low: float
    high: float
    replications: int
    time: CensoredMean | None = None

    @classmethod
    def of(cls, measurement: Paired | Measurement, metric: str, *, stopped: bool = False) -> Estimate:
        """Build an estimate from a measurement. `stopped` has the same meaning as in `mean_interval`."""
        value, low, high = measurement.mean(stopped=stopped)
        return cls(metric=metric, value=value, low=low, high=high, replications=measurement.count, time=measurement.time)

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2.0

    def __str__(self) -> str:
        unknown = self.time is not None and np.isnan(self.time.value)
        number = "" if unknown else f"{self.value:.4g} [{self.low:.4g}, {self.high:.4g}] "
        spells = f": {self.time}" if self.time else ""
        return f"{self.metric} {number}over {self.replications} replications{spells}"


def estimate(each: Array | Measurement, metric: str, bounds: Bounds = ANY) -> Estimate:
    """Return the mean and its 95 % interval for a measurement, or for an array with one number per replication.

    Raises
    ------
    UsageError
        If fewer than two replications have a value, or all values are equal, so that there is no spread to estimate.

    >>> print(estimate(np.array([1.0, 2.0, 3.0]), "delay"))
    delay 2 [-0.4841, 4.484] over 3 replications
    """
    sample = each if isinstance(each, Measurement) else Measurement(each, bounds)
    refuse_no_spread(sample, metric)
    return Estimate.of(sample, metric)


def refuse_no_spread(measurement: Paired | Measurement, metric: str, *, alike: bool = False) -> None:
    """Raise `UsageError` if fewer than two replications have a value, or if all values are equal (unless `alike`).

    A time is accepted even if its mean is unknown because most spells outlast the longest one seen.
    """
    parts = measurement.parts
    values = parts[~np.isnan(parts)]
    if isinstance(measurement, Paired) and (unknown := measurement.unknown):
        raise UsageError(
            "one of the two mean times cannot be estimated", where=metric, given=str(unknown), hint="run more days"
        )
    if measurement.count > 1 and measurement.time is not None and np.isnan(measurement.time.value):
        return
    if len(values) < 2:  # noqa: PLR2004  # one value has no spread
        hint = "run more replications" if len(parts) == len(values) else "run more days, or more replications"
        given = f"{len(values)} of {len(parts)}"
        raise UsageError("at least two replications need a value", where=metric, given=given, hint=hint)
    if not alike and (values == values[0]).all():
        hint = "nothing random affects the metric here; run one replication"
        raise UsageError("the metric is the same in every replication", where=metric, given=float(values[0]), hint=hint)


def _figure(run: Run, name: str) -> Measurement:
    figures = measurements(run)
    if name in figures:
        return figures[name]
    if not run.scenario.facts:
        hint = "add [[facts]] and [[writers]], because scripted claims cannot be scored without a truth"
        raise UsageError(
            "the metric needs facts with known truth", where="metric", given=name, allowed=", ".join(figures), hint=hint
        )
    hint = "add a [reader]" if run.scenario.reader is None else "add writers"
    raise UsageError("no such metric in this run", where="metric", given=name, allowed=", ".join(figures), hint=hint)


def _is_named(text: str) -> bool:
    """Return whether a text names a price, the accuracy of a fact, or a metric of a series."""
    return bool(text in PRICES or OF_FACTS.fullmatch(text.strip()) or OF_SERIES.fullmatch(text.strip()))


def _of_facts(run: Run, name: str) -> Array:
    names = [fact.name for fact in run.scenario.facts if re.fullmatch(re.escape(name) + r"(-\d+)?", fact.name)]
    if not names:
        allowed = " ".join(dict.fromkeys(re.sub(r"-\d+$", "", fact.name) for fact in run.scenario.facts))
        raise UsageError("no such fact", where="metric", given=f"accuracy of {name}", allowed=allowed)
    answers = run.signals.filter(pl.col("signal") == "right", pl.col("row").is_in(names))
    means = answers.group_by("rep").agg(pl.col("value").mean())
    shares = np.full(run.scenario.replications, np.nan)
    shares[means["rep"].to_numpy() - run.scenario.first] = means["value"].to_numpy()
    return shares


def _of_series(run: Run, metric: str, text: str) -> Array:
    trace = trace_of(run, metrics=by_replication(run))
    values = Margins(trace).value(value_of(text))
    if values.dtype == object:
        raise UsageError(
            "a text value cannot be measured", where="metric", given=text, hint="compare the value in a property"
        )
    series = np.broadcast_to(values, (len(trace.times), len(trace.replications)))
    return steady_mean(series) if metric == STEADY else measure(metric, trace.times / DAY, series)


def _property(text: str) -> Property:
    hint = nearest(text, METRICS, f"choose one of {', '.join(METRICS)}, a property, or `mean of` a value")
    if text.strip().isidentifier():  # an identifier can only be the name of a metric
        raise UsageError("no such metric", where="metric", given=text, hint=hint)
    try:
        return Property(text)
    except MalsimError as error:
        problem = f"neither a metric nor a property: {error.problem}"
        raise UsageError(problem, where="metric", given=text, hint=hint) from error
