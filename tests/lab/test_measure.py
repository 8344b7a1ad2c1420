"""Tests that measures per replication equal the run's printed metrics, closed forms and scikit-learn."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sklearn_metrics

import malsim as ms
from malsim.base.errors import MalsimError, UsageError
from malsim.lab.studies.measure import estimate, is_better_high, measured, measured_by_running
from malsim.lab.studies.warmup import mser5, steady_mean
from malsim.scenario.file.scenario_file import parse
from malsim.sim import bench
from malsim.sim.record.metrics import METRICS

if TYPE_CHECKING:
    from malsim.sim.run import Run

WORLD = """
why = "two facts, a few writers who are mostly right, and a reader"
seed = 5
run = { days = 12, replications = 6 }
facts = [{ name = "pump", hazard = 0.05 }, { name = "valve", hazard = 0.05 }]
writers = [{ behaviour = "honest", count = 3, rate = 0.6, accuracy = 0.8 }]
reader = {}
"""


@pytest.fixture(scope="module")
def world() -> ms.Scenario:
    return parse(WORLD)


POOLED = {
    "ece", "ece_stated", "rmse_bins", "invalidation_latency", "time_to_correction", "recovery", "correction_shows",
}  # fmt: skip
"""Figures that pool the replications of a run instead of averaging them."""


@pytest.fixture(scope="module")
def run(world: ms.Scenario) -> Run:
    return bench.run(world)


def test_mean_of_each_measure_equals_the_printed_metric(run: Run) -> None:
    figures = {row["metric"]: row["value"] for row in run.metrics().to_dicts()}
    for name, value in figures.items():
        item = measured(run, name)
        assert item.shape == (6,)
        if value is None:
            assert np.isnan(item).all()
        elif name not in POOLED:
            assert math.isclose(np.nanmean(item), value, rel_tol=1e-12, abs_tol=1e-15)


def test_scores_match_scikit_learn(run: Run) -> None:
    last = run.cells.filter((pl.col("t") == 12.0) & pl.col("truth").is_not_null() & (pl.col("status") == "active"))
    oracles = {
        "brier": sklearn_metrics.brier_score_loss,
        "auc": sklearn_metrics.roc_auc_score,
        "log_loss": lambda true, worth: sklearn_metrics.log_loss(true, np.clip(worth, 1e-6, 1 - 1e-6), labels=[False, True]),
    }
    for name, oracle in oracles.items():
        item = measured(run, name)
        for (number,), cells in last.group_by("rep"):
            true, worth = cells["truth"].to_numpy(), cells["effective"].to_numpy()
            if name == "auc" and true.all():
                assert np.isnan(item[number])
            else:
                assert math.isclose(item[number], oracle(true, worth), rel_tol=1e-12)


def test_calibration_error_is_computed_per_replication(world: ms.Scenario, run: Run) -> None:
    alone = bench.run(world.replace(replications=1, first=4)).metrics()
    for name in ("ece", "ece_stated", "rmse_bins"):
        assert measured(run, name)[4] == alone.filter(pl.col("metric") == name)["value"][0]


def test_margins_series_and_functions_can_be_measures(world: ms.Scenario, run: Run) -> None:
    columns = measured_by_running(world, ["accuracy >= 0", "mean of words", "always (words >= 0)"])
    assert np.array_equal(columns[0], measured(run, "accuracy"))
    words = run.signals.filter(pl.col("signal") == "words").group_by("rep", maintain_order=True).agg(pl.col("value"))
    assert np.allclose(columns[1], [np.mean(values) for values in words["value"].to_list()], rtol=1e-12)
    assert np.allclose(columns[2], [min(values) for values in words["value"].to_list()], rtol=1e-12)
    assert measured(run, lambda _: np.arange(6.0)).tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("acuracy", "did you mean accuracy"),
        ("", "neither a metric nor a property"),
        ("mean of", "neither a metric nor a property"),
        ("mean of wards", "wards"),
        ("always (eff(obs_0000) >", "neither a metric nor a property"),
        (lambda _: np.zeros(5), "one number per replication"),
        (lambda _: np.zeros((6, 1)), "one number per replication"),
        ("steady of words", "20 ticks or more"),
    ],
)
def test_invalid_measures_are_refused(run: Run, metric: Any, message: str) -> None:
    with pytest.raises(MalsimError, match=message):
        measured(run, metric)


def test_error_names_the_table_that_a_measure_needs(run: Run) -> None:
    scripted = bench.run(ms.read("scenarios/worked_example.toml"))
    for name in ("brier", "accuracy", "ece", "auc"):
        with pytest.raises(UsageError, match=r"needs facts with known truth.*add \[\[facts\]\]"):
            measured(scripted, name)
    with pytest.raises(UsageError, match=r"add a \[reader\]"):
        measured(bench.run(run.scenario.replace(reader=None, replications=1)), "false_acted")


def test_impossible_measure_is_refused_before_running(world: ms.Scenario) -> None:
    endless = world.replace(days=1e9, replications=100_000)
    with pytest.raises(UsageError, match="no such metric"):
        measured_by_running(endless, ["accuracy", "acuracy"])


def test_measures_know_their_direction_of_improvement() -> None:
    assert [name for name in METRICS if is_better_high(name)] == [
        "accuracy", "answered", "auc", "auc_stated", "acted_share", "lessons_written", "autonomy", "grounded_share",
    ]  # fmt: skip
    assert is_better_high("always (eff(obs_a1a1) >= 0.5)")
    assert not is_better_high("mean of words")
    assert not is_better_high(lambda _: 0.0)


@pytest.mark.parametrize("each", [[], [1.0], [math.nan, 1.0, math.nan], [0.5, 0.5, 0.5], [0.0, -0.0]])
def test_interval_of_constant_values_is_refused(each: list[float]) -> None:
    with pytest.raises(UsageError, match=r"two replications need a value|the same in every replication"):
        estimate(np.array(each), "brier")


def test_estimate_counts_only_replications_with_a_value() -> None:
    result = estimate(np.array([1.0, math.nan, 2.0]), "delay")
    assert (result.replications, result.value) == (2, 1.5)
    assert math.isclose(result.high - result.value, result.half_width)


def brute(series: np.ndarray[Any, np.dtype[np.float64]]) -> int:
    means = np.array([np.mean(series[5 * k : 5 * k + 5]) for k in range(len(series) // 5)])
    errors = [np.sum((means[d:] - np.mean(means[d:])) ** 2) / (len(means) - d) ** 2 for d in range(len(means) // 2 + 1)]
    return 5 * int(np.argmin(errors))


@given(st.integers(20, 90), st.integers(0, 30), st.floats(-50.0, 50.0), st.integers(0, 2**32))
def test_warm_up_matches_the_definition_of_mser5(length: int, ramp: int, height: float, seed: int) -> None:
    series = np.random.default_rng(seed).normal(size=length)
    series[:ramp] += height * (1.0 - np.arange(min(ramp, length)) / max(ramp, 1))
    result = int(mser5(series))
    assert result == brute(series)
    assert mser5(np.stack([series, series[::-1]], axis=1)).tolist() == [result, brute(series[::-1])]


def test_steady_mean_excludes_the_warm_up() -> None:
    steady = np.r_[np.linspace(9.0, 1.0, 30), np.tile([0.9, 1.1], 60)]
    late = np.r_[np.full(7, np.nan), steady]
    assert np.allclose(steady_mean(np.stack([np.r_[steady, [0.9, 1.1] * 3, 0.9], late], axis=1)), 1.0, atol=0.02)
    with pytest.raises(UsageError, match="a value at every tick"):
        steady_mean(np.r_[steady, np.nan, steady][:, None])
    with pytest.raises(UsageError, match="20 ticks or more"):
        steady_mean(np.full((40, 1), np.nan))
