"""Tests for sequential stopping and paired comparison, on random numbers with a known mean and on runs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

import malsim as ms
from malsim.base.errors import MalsimError, UsageError
from malsim.lab.studies.replications import sequential
from malsim.scenario.file.scenario_file import parse
from malsim.sim.world.draws import Draws
from tests.lab.small_worlds import SMALL

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from malsim.sim.run import Run


@pytest.fixture(scope="module")
def small() -> ms.Scenario:
    return parse(SMALL).replace(days=6.0)


def normal(seed: int, spread: float = 1.0) -> Callable[[int, int], list[NDArray[np.float64]]]:
    draws = Draws(seed, "test")
    return lambda start, count: [0.5 + spread * draws.normal("x", rep=start + np.arange(count))]


def test_replication_stops_at_the_requested_half_width() -> None:
    result = sequential(normal(1, 0.2), {"x": 0.05})
    looks = result.rounds
    assert result.reached
    assert looks["replications"].to_list() == [16, 24, 36, 54, 81][: looks.height]
    halves = ((looks["high"] - looks["low"]) / 2).to_list()
    assert halves[-1] <= 0.05 < min(halves[:-1])
    theory = (1.96 * 0.2 / 0.05) ** 2
    assert theory / 2 < result.replications < 2 * theory


def test_intervals_have_nominal_coverage() -> None:
    estimates = [sequential(normal(seed, 0.2), {"x": 0.05})["x"] for seed in range(1000)]
    coverage = np.mean([item.low <= 0.5 <= item.high for item in estimates])
    low, _ = stats.binomtest(int(1000 * coverage), 1000).proportion_ci(0.999)
    assert coverage > 0.92
    assert low < 0.95  # higher coverage would mean wasted runs


def test_first_replications_are_independent_of_later_ones(small: ms.Scenario) -> None:
    few = ms.replicate(small, metric=["brier", "accuracy"], half_width=0.1)
    many = ms.replicate(small, metric=["accuracy", "brier"], half_width={"accuracy": 0.03, "brier": 0.1})
    assert many.replications > few.replications
    assert many.each.head(few.replications).select("rep", "brier", "accuracy").equals(few.each)
    at_once = ms.run(small, replications=few.replications).metrics()
    row = at_once.filter(metric="brier").row(0, named=True)
    assert math.isclose(few["brier"].value, row["value"], rel_tol=1e-12)
    assert math.isclose(few["brier"].low, row["low"], rel_tol=1e-9)


def test_maximum_number_of_replications_is_respected(small: ms.Scenario) -> None:
    result = ms.replicate(small, metric="accuracy", half_width=1e-6, most=20)
    assert (result.replications, result.reached) == (20, False)
    assert "not reached" in repr(result)
    assert result.frame["reached"].to_list() == [False]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"half_width": 0.0}, "above 0"),
        ({"half_width": math.nan}, "above 0"),
        ({"half_width": {"accuracy": 0.1}}, "the half-width of this metric is missing"),
        ({"first": 1}, "at least two replications"),
        ({"first": 30, "most": 20}, "at least two replications"),
        ({"metric": []}, "a metric is missing"),
        ({"metric": "briar"}, "did you mean brier"),
        ({"metric": "cells >= 0 and nothing"}, "nothing"),
    ],
)
def test_invalid_arguments_of_replicate_are_refused(small: ms.Scenario, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(MalsimError, match=message):
        ms.replicate(small, **{"metric": "brier", "first": 2, **settings})


def test_constant_metric_is_refused() -> None:
    with pytest.raises(UsageError, match="the same in every replication"):
        sequential(lambda _, count: [np.full(count, 0.25)], {"x": 0.1})
    with pytest.raises(UsageError, match="two replications need a value"):
        sequential(lambda _, count: [np.full(count, np.nan)], {"x": 0.1})
    rare = sequential(lambda start, count: [np.equal(start + np.arange(count), 20).astype(float)], {"x": 0.5})
    assert rare.replications == 24


def test_paired_runs_share_random_numbers(small: ms.Scenario) -> None:
    other = small.replace(rules={"challenge_ceiling": 0.3}, seed=99)
    result = ms.compare(small, other, metric="brier", replications=30)
    runs = ms.run(small, replications=30), ms.run(other, replications=30, seed=small.seed)
    left, right = (run.metrics().filter(metric="brier")["value"][0] for run in runs)
    assert math.isclose(result.difference.value, right - left, abs_tol=1e-12)
    a, b = (result.each.drop_nulls()[name].to_numpy() for name in ("a", "b"))
    oracle = stats.ttest_rel(b, a).confidence_interval()
    # the interval is wider than Student's if the differences are skewed
    assert result.difference.low <= oracle.low + 1e-12
    assert result.difference.high >= oracle.high - 1e-12
    apart = stats.ttest_ind(b, a, equal_var=False).confidence_interval()
    assert np.allclose(result.unpaired, apart, rtol=1e-9)
    assert result.saved > 2


def test_comparison_runs_until_the_requested_half_width(small: ms.Scenario) -> None:
    other = small.replace(rules={"challenge_ceiling": 0.3})
    wide = ms.compare(small, other, metric="brier", replications=16)
    result = ms.compare(small, other, metric="brier", half_width=0.7 * wide.difference.half_width)
    assert result.difference.half_width <= 0.7 * wide.difference.half_width
    assert result.each.head(16).equals(wide.each)
    assert result.each.height > 16


def test_equal_scenarios_have_no_difference(small: ms.Scenario) -> None:
    same = ms.compare(small, small, metric="brier", replications=5)
    assert str(same) == "brier: no difference, in each of 5 pairs"
    assert not same.differs
    assert (same.difference.low, same.difference.high) == (0.0, 0.0)
    with pytest.raises(UsageError, match="two replications"):
        ms.compare(small, small, metric="brier", replications=1)


def test_figures_are_labelled_with_units(small: ms.Scenario) -> None:
    def late(run: Run) -> NDArray[np.float64]:
        return np.arange(run.scenario.replications, dtype=float)

    sheet = ms.replicate(small, metric=["brier", late], half_width=3.0, first=4).plot("small")
    assert [axes.get_ylabel() for axes in sheet.axes] == ["brier (1)", "late (the value's unit)"]
    pairs = ms.compare(small, small.replace(rules={"damping": 0.5}), metric="accuracy", replications=16)
    assert "accuracy (1)" in pairs.plot().axes[0].get_xlabel()
