"""Tests for alarm checks (series, states, expectations) and metric checks (step responses, intervals, bounds)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import control
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from malsim.base.errors import ScenarioError
from malsim.scenario.checks.alarms import STATES, check_alarm, series, states
from malsim.scenario.checks.checks import MetricCheck
from malsim.scenario.checks.series_metrics import METRICS, Array, measure
from malsim.scenario.properties import Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

numbers = st.floats(-1e6, 1e6).map(lambda number: round(number, 6) + 0.0)


@given(st.lists(st.tuples(st.none() | numbers, st.none() | numbers, st.none() | st.integers(1, 30)), min_size=1))
def test_series_text_is_expanded_to_values(items: list[tuple[float | None, float | None, int | None]]) -> None:
    words, values = [], []
    for start, step, count in items:
        rise = None if start is None or count is None else step
        word = "_" if start is None else repr(start)
        words.append(word + ("" if rise is None else f"{rise:+}") + ("" if count is None else f"x{count}"))
        values += [math.nan if start is None else start + (rise or 0.0) * tick for tick in range(count or 1)]
    if all(math.isnan(value) for value in values):
        with pytest.raises(ScenarioError, match="all numbers must be finite"):
            series(" ".join(words))
    else:
        np.testing.assert_array_equal(series(" ".join(words)), values)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "all numbers must be finite"),
        ("_x3", "all numbers must be finite"),
        ("1e999", "all numbers must be finite"),
        ("0.9x5 nan", "item 2: not a valid series item"),
        ("0.9 x5", "item 2"),
        ("0.4+0.02", "item 1"),
        ("_+1x3", "item 1"),
        ("1x0", "item 1"),
        ("1x-2", "item 1"),
        ("1x2x3", "item 1"),
        ("0.9x999999 1x2", "too long"),
        ("1x" + "9" * 50, "too long"),
    ],
)
def test_invalid_series_are_refused(text: str, words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        series(text)


bits = st.lists(st.sampled_from([0.0, 1.0, math.nan]), min_size=1, max_size=12)


@given(bits, st.data())
def test_alarm_states_follow_the_alarm_bits(alarm: list[float], data: st.DataObject) -> None:
    condition = data.draw(st.lists(st.sampled_from([0.0, 1.0]), min_size=len(alarm), max_size=len(alarm)))
    for tick, state in enumerate(states(column(alarm), column(condition)).ravel().tolist()):
        ever = 1.0 in alarm[: tick + 1]
        expected = {0.0: "cleared" if ever else "quiet", 1.0: "tripped" if condition[tick] else "latched"}
        assert state == (None if math.isnan(alarm[tick]) else expected[alarm[tick]])


def column(values: list[float]) -> NDArray[np.float64]:
    return np.array(values).reshape(-1, 1)


def trip() -> Trace:
    """Return a trace over days 1 to 8 in which replication 1 trips one tick later than replication 0."""
    bad = np.array([[0, 0, 1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0, 0, 0]], dtype=float).T
    out = np.array([[0, 0, 1, 1, 1, 0, 0, math.nan], [0, 0, 0, 1, 1, 0, 0, 0]]).T
    return Trace.of_arrays(range(1, 9), {"alarm.out": out, "bad": bad})


def test_expected_states_can_name_ticks_times_and_ranges() -> None:
    trace = trip()
    for expected in (
        {"0..1": "quiet", "3": "tripped", "4": "latched", "5..6": "cleared"},
        {"1d..2d": "quiet", "4d": "tripped", "120h": "latched"},
        {"2": "quiet|tripped", "3..4": "tripped|latched"},
        {"0": "quiet"},
    ):
        assert check_alarm(expected, trace, alarm="alarm.out", condition="bad").passed, expected


def test_differences_name_tick_day_replication_and_states() -> None:
    verdict = check_alarm({"2": "tripped", "6..": "cleared"}, trip(), alarm="alarm.out", condition="bad")
    assert verdict.differences.rows() == [(3.0, 2, 1, "tripped", "quiet"), (8.0, 7, 0, "cleared", None)]
    assert str(verdict) == "tick 2 (day 3), replication 1: expected tripped, got quiet (and 1 more)"
    assert not check_alarm({"4": "latched"}, trip(), alarm="alarm.out").passed


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        ({}, "no state is expected"),
        ({"3": "on"}, "not an alarm state"),
        ({"3": ""}, "not an alarm state"),
        ({"3": "|".join(STATES)}, "not an alarm state"),
        ({"8": "quiet"}, "the run has no tick at this time"),
        ({"36h": "quiet"}, "the run has no tick at this time"),
        ({"1d..90d": "quiet"}, "the run has no tick at this time"),
        ({"5..3": "quiet"}, "the run has no tick at this time"),
        ({"9..": "quiet"}, "the run has no tick at this time"),
        ({"soon": "quiet"}, "not a time"),
        ({"3 years": "quiet"}, "not a duration"),
        ({"0..3": "quiet", "2": "tripped"}, "contradict"),
    ],
)
def test_invalid_expectations_are_refused(expected: dict[str, str], words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        check_alarm(expected, trip(), alarm="alarm.out", condition="bad")


def test_alarm_must_be_an_existing_bit() -> None:
    trace = Trace.of_arrays(range(2), {"level": column([0.5, 1.0])})
    with pytest.raises(ScenarioError, match="not a bit"):
        check_alarm({"0": "quiet"}, trace, alarm="level")
    with pytest.raises(ScenarioError, match="no such series"):
        check_alarm({"0": "quiet"}, trace, alarm="levle")


PEER = {
    "rise_time": "RiseTime", "settling_time": "SettlingTime", "overshoot": "Overshoot", "undershoot": "Undershoot",
    "peak": "Peak", "peak_time": "PeakTime", "last": "SteadyStateValue",
}  # fmt: skip
LEVELS = st.floats(-2, 2).map(lambda value: round(value, 3))


@given(arrays(float, st.tuples(st.integers(2, 12), st.integers(1, 3)), elements=LEVELS))
def test_step_response_metrics_match_python_control(values: Array) -> None:
    values[-1] = np.where(values[-1] == 0, 0.5, values[-1])
    days: Array = np.arange(len(values)) * np.float64(0.5)
    for metric, name in PEER.items():
        ours = measure(metric, days, values)
        theirs = [control.step_info(column, T=days)[name] for column in values.T]
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, err_msg=metric)


def metric_check(metric: str, within: tuple[float, float], of: str = "x", **options: Any) -> MetricCheck:
    return MetricCheck(name="n", property="p", metric=metric, of=of, within=within, **options)


def test_event_that_never_occurs_has_an_infinite_time() -> None:
    trace = Trace.of_arrays(range(3), {"x": np.array([[0.0, 0.0], [0.2, 0.9], [0.4, 1.0]])})
    estimate = metric_check("rise_time", (0.0, 9.0), final=1.0).result(None, trace)
    result = (estimate.each.tolist(), estimate.passed, estimate.interval, estimate.farthest)
    assert result == ([np.inf, 0.0], False, None, 0)


def test_mean_has_an_interval_and_a_margin() -> None:
    trace = Trace.of_arrays(range(2), {"x": np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]])})
    estimate = metric_check("last", (1.0, 3.0), of="2 * x").result(None, trace)
    assert (estimate.mean, estimate.passed, estimate.farthest) == (4.0, False, 2)
    assert estimate.interval == pytest.approx((4 - 4.9683, 4 + 4.9683), abs=1e-3)  # half-width: t(0.975, 2) · 2 / √3
    assert estimate.margin == pytest.approx(-5.9683, abs=1e-3)
    assert str(estimate) == "expected 1 … 3, got last = 4 [-0.968275, 8.96828]"


def test_metric_is_undecided_if_its_interval_crosses_a_bound() -> None:
    trace = Trace.of_arrays(range(2), {"x": np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]])})
    estimate = metric_check("last", (1.5, 5.0)).result(None, trace)
    assert (estimate.mean, estimate.passed, estimate.farthest) == (2.0, False, 0)
    assert str(estimate).endswith("; the mean is inside, but its interval is not: use more replications")


def test_single_replication_has_no_interval() -> None:
    trace = Trace.of_arrays(range(2), {"x": np.array([[0.0], [0.5]])})
    for high, passed in ((0.5, True), (0.4, False)):
        estimate = metric_check("last", (0.0, high)).result(None, trace)
        assert (estimate.passed, estimate.interval) == (passed, None)
        assert str(estimate).endswith("last = 0.5 (one replication, so no interval)")


@given(arrays(float, st.integers(1, 9), elements=LEVELS), LEVELS, LEVELS)
def test_metric_passes_if_both_interval_ends_are_inside(values: Array, first: float, second: float) -> None:
    trace = Trace.of_arrays(range(2), {"x": np.stack([values, values])})
    within = min(first, second), max(first, second)
    estimate = metric_check("mean", within).result(None, trace)
    low, high = estimate.interval or (values[0], values[0])
    assert estimate.passed == (within[0] <= low and high <= within[1]) == (estimate.margin >= 0)
    assert metric_check("mean", (within[0] - 1, np.inf)).result(None, trace).margin >= estimate.margin


@pytest.mark.parametrize("metric", METRICS)
def test_metrics_skip_missing_values(metric: str) -> None:
    values = np.array([0.2, 1.4, 0.9, 1.0])
    late = np.concatenate([[np.nan], values])[:, None]
    assert measure(metric, np.arange(5.0), late)[0] == pytest.approx(
        measure(metric, np.arange(1.0, 5.0), values[:, None])[0] + (metric in ("settling_time", "peak_time"))
    )


def test_metrics_of_unmeasurable_values_are_refused() -> None:
    nothing = np.full((3, 1), np.nan)
    for values, metric in ((nothing, "mean"), (np.zeros((3, 1)), "overshoot"), (np.zeros((0, 1)), "last")):
        with pytest.raises(ScenarioError):
            measure(metric, np.arange(float(len(values))), values)
    trace = Trace.of_arrays(range(3), {"x": np.zeros((3, 1))})
    with pytest.raises(ScenarioError, match="does not cover the window"):
        metric_check("mean", (0, 1), over=(0, 9 * 86_400_000)).result(None, trace)
