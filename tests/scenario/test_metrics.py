"""Metrics and their bounds: step-response numbers equal python-control's; a mean outside its bounds fails and says where."""

from __future__ import annotations

import control
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from malsim.base.errors import ScenarioError
from malsim.scenario.checks.checks import MetricCheck
from malsim.scenario.checks.series_metrics import METRICS, Array, measure
from malsim.scenario.properties import Trace

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


def test_time_of_an_absent_event_is_infinite() -> None:
    trace = Trace.of_arrays(range(3), {"x": np.array([[0.0, 0.0], [0.2, 0.9], [0.4, 1.0]])})
    wanted = MetricCheck(name="n", property="p", metric="rise_time", of="x", within=(0.0, 9.0), final=1.0)
    found = wanted.result(None, trace)
    assert (found.each.tolist(), found.passed, found.interval, found.farthest) == ([np.inf, 0.0], False, None, 0)


def test_a_mean_has_an_interval_and_a_margin() -> None:
    trace = Trace.of_arrays(range(2), {"x": np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]])})
    found = MetricCheck(name="n", property="p", metric="last", of="2 * x", within=(1.0, 3.0)).result(None, trace)
    assert (found.mean, found.passed, found.farthest) == (4.0, False, 2)
    assert found.interval == pytest.approx((4 - 4.9683, 4 + 4.9683), abs=1e-3)  # t(0.975, 2) · 2 / √3
    assert found.margin == pytest.approx(-5.9683, abs=1e-3)
    assert str(found) == "expected 1 … 3, got last = 4 [-0.968275, 8.96828]"


def test_interval_beyond_a_bound_is_undecided() -> None:
    trace = Trace.of_arrays(range(2), {"x": np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]])})
    found = MetricCheck(name="n", property="p", metric="last", of="x", within=(1.5, 5.0)).result(None, trace)
    assert (found.mean, found.passed, found.farthest) == (2.0, False, 0)
    assert str(found).endswith("; the mean is inside, its interval is not: more replications narrow it")


def test_one_replication_reports_no_interval() -> None:
    trace = Trace.of_arrays(range(2), {"x": np.array([[0.0], [0.5]])})
    for high, passed in ((0.5, True), (0.4, False)):
        found = MetricCheck(name="n", property="p", metric="last", of="x", within=(0.0, high)).result(None, trace)
        assert (found.passed, found.interval) == (passed, None)
        assert str(found).endswith("last = 0.5 (one replication, so no interval)")


@given(arrays(float, st.integers(1, 9), elements=LEVELS), LEVELS, LEVELS)
def test_metric_passes_if_both_interval_ends_are_inside(values: Array, one: float, other: float) -> None:
    trace = Trace.of_arrays(range(2), {"x": np.stack([values, values])})
    within = min(one, other), max(one, other)
    found = MetricCheck(name="n", property="p", metric="mean", of="x", within=within).result(None, trace)
    low, high = found.interval or (values[0], values[0])
    assert found.passed == (within[0] <= low and high <= within[1]) == (found.margin >= 0)
    wider = MetricCheck(name="n", property="p", metric="mean", of="x", within=(within[0] - 1, np.inf))
    assert wider.result(None, trace).margin >= found.margin


@pytest.mark.parametrize("metric", METRICS)
def test_missing_values_are_skipped_by_metrics(metric: str) -> None:
    values = np.array([0.2, 1.4, 0.9, 1.0])
    late = np.concatenate([[np.nan], values])[:, None]
    assert measure(metric, np.arange(5.0), late)[0] == pytest.approx(
        measure(metric, np.arange(1.0, 5.0), values[:, None])[0] + (metric in ("settling_time", "peak_time"))
    )


def test_unmeasurable_values_are_refused() -> None:
    nothing = np.full((3, 1), np.nan)
    for values, metric in ((nothing, "mean"), (np.zeros((3, 1)), "overshoot"), (np.zeros((0, 1)), "last")):
        with pytest.raises(ScenarioError):
            measure(metric, np.arange(float(len(values))), values)
    trace = Trace.of_arrays(range(3), {"x": np.zeros((3, 1))})
    with pytest.raises(ScenarioError, match="not inside the run"):
        MetricCheck(name="n", property="p", metric="mean", of="x", within=(0, 1), over=(0, 9 * 86_400_000)).result(
            None, trace
        )
