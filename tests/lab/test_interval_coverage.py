"""Tests that the interval of every printed metric stays within the metric's bounds and has nominal coverage."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import malsim as ms
from malsim.base.intervals import SHARE, difference_interval, mean_interval
from malsim.lab.space.settings import scenario_of
from malsim.sim import bench
from malsim.sim.record.measurement import CalibrationErrors, Measurement, Times
from malsim.sim.record.metrics import by_replication, measurements, metric_bounds

LEAST = 0.92
SEED = 20_251  # differs from every scenario's seed
# Events expected fewer than 2.5 times per sample are missing from over e^-2.5 = 8 % of the samples, too many for LEAST.
FEW = 2.5
# One in eight of these replications is slow, so a third of the samples of size 8 contain no slow replication.
NOT_COVERED = {("weekend", "last_write", 8): {"time_to_correction"}}
Array = NDArray[np.float64]
Ints = NDArray[np.int64]
VALUES = st.lists(st.floats(0.0, 1.0), min_size=2, max_size=30)


@given(values=VALUES, others=VALUES, stopped=st.booleans())
def test_intervals_stay_within_bounds_around_the_mean(*, values: list[float], others: list[float], stopped: bool) -> None:
    mean, low, high = mean_interval(np.array(values), SHARE, stopped=stopped)
    assert 0.0 <= low <= mean + 1e-12
    assert mean - 1e-12 <= high <= 1.0
    count = min(len(values), len(others))
    mean, low, high = difference_interval(np.array(values[:count]), np.array(others[:count]), SHARE, stopped=stopped)
    assert np.isnan(low) or -1.0 <= low <= mean + 1e-12 <= high + 2e-12 <= 1.0 + 2e-12


def coverage(name: str, law: str, *, size: int, blocks: int, metrics: tuple[str, ...] = ()) -> dict[str, float]:
    """Return the share of intervals of `size` replications that contain the mean, for metrics without rare outliers."""
    scenario = scenario_of(f"scenarios/{name}.toml").replace(law=law, seed=SEED, record="bands", replications=size * blocks)
    return {
        metric: _held(sample, size)
        for metric, sample in measurements(bench.run(scenario)).items()
        if (not metrics or metric in metrics) and not np.isnan(sample.each).any() and not _rare(sample.each, size)
    }


def _block(sample: Measurement, rows: Ints) -> Measurement:
    changes: dict[str, Any] = {"each": sample.each[rows]}
    if isinstance(sample, CalibrationErrors):
        changes |= {"gaps": sample.gaps[rows], "counts": sample.counts[rows]}
    elif isinstance(sample, Times) and sample.spells:
        rep, days, ended = (np.concatenate(part) for part in zip(*sample.spells, strict=True))
        spell, index = np.nonzero(rep[:, None] == rows)
        changes["spells"] = [(index, days[spell], ended[spell])] if len(index) else []
    return replace(sample, **changes)


def _held(sample: Measurement, size: int) -> float:
    value, blocks = sample.mean()[0], np.arange(len(sample.each)).reshape(-1, size)
    ends = np.array([_block(sample, block).mean()[1:] for block in blocks])
    return float(((ends[:, 0] <= value + 1e-9) & (value - 1e-9 <= ends[:, 1]) | np.isnan(ends[:, 0])).mean())


def _rare(values: Array, size: int) -> bool:
    """Return True if outliers too rare for samples of `size` shift the mean by more than a tenth of its standard error."""
    away = np.sort(np.abs(values - np.median(values)))[::-1]
    few = np.arange(1, int(FEW / size * len(values)) + 1)
    apart = away[few - 1] > 2.0 * away[few]
    shift = away.cumsum()[few - 1] / len(values)
    return bool((apart & (shift > 0.1 * values.std() / np.sqrt(size))).any())


def test_intervals_cover_the_mean_of_a_bimodal_metric() -> None:
    usual, draws = 0.0278, np.random.default_rng(SEED)
    # values are distributed like the Brier scores of the law `records`
    values = usual + np.where(draws.random(8 * 500) < 0.25, 0.024, 0.001 * draws.random(8 * 500))
    assert _held(Measurement(values, metric_bounds("brier")), 8) >= LEAST


def test_intervals_cover_accuracy_for_few_and_many_replications() -> None:
    scenario = scenario_of("scenarios/poisoner.toml").replace(law="majority", seed=SEED, record="bands", replications=400)
    values = by_replication(bench.run(scenario))["accuracy"]
    for size in (8, 40):
        ends = [mean_interval(np.random.default_rng(block).choice(values, size), SHARE)[1:] for block in range(300)]
        held = np.mean([low <= values.mean() <= high for low, high in ends])
        assert held >= LEAST, size


def test_intervals_cover_a_sample_of_metrics() -> None:
    held = coverage("poisoner", "last_write", size=8, blocks=60, metrics=("accuracy", "answered", "stale_acted", "harm"))
    assert len(held) >= 3
    assert min(held.values()) >= 0.95 - 3.0 * np.sqrt(0.95 * 0.05 / 60)  # three standard errors below 95 %


@pytest.mark.nightly
@pytest.mark.parametrize("size", [8, 20, 40])
@pytest.mark.parametrize("law", ["mal", "records", "majority", "last_write", "truthfinder", "crh"])
@pytest.mark.parametrize("name", ["poisoner", "weekend"])
def test_intervals_cover_every_metric(name: str, law: str, size: int) -> None:
    held = coverage(name, law, size=size, blocks=400)
    assert {metric for metric, share in held.items() if share < LEAST} == NOT_COVERED.get((name, law, size), set()), held


def test_interval_of_constant_sample_allows_for_rare_events() -> None:
    mean, low, high = mean_interval(np.ones(8), SHARE)
    assert (mean, high) == (1.0, 1.0)
    assert low == pytest.approx(0.025 ** (1 / 8))
    assert np.isnan(mean_interval(np.full(8, 3.0))[1])


def test_run_prints_intervals_within_bounds() -> None:
    frame = ms.run("scenarios/poisoner.toml", law="records", replications=12).metrics().drop_nulls()
    for metric, low, high in frame.select("metric", "low", "high").iter_rows():
        least, most = metric_bounds(metric)
        assert least <= low <= high <= most, metric
