"""Tests of slew2's limits, of pid and autotune on a plant, and of the detectors' published run lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ops


def slewed(target: Any, maxv: float, maxa: float, low: float = -1e20, high: float = 1e20) -> Any:
    """Return the positions of slew2 as it follows `target`, with one call per day."""
    sheet = ops.load("slew2")
    bounds = {"maxv": maxv, "maxa": maxa, "min": low, "max": high}
    _, result = ops.run(sheet, ops.start(sheet, 1, bounds), {"in": np.asarray(target, float)[:, np.newaxis]}, tick="1d")
    return result["out"][:, 0]


FAST = st.tuples(st.floats(1, 10), st.floats(0.2, 10))
LIMITS = st.tuples(st.floats(0.01, 10), st.floats(0.01, 10))


@given(
    target=st.lists(st.floats(-100, 100), min_size=1, max_size=60),
    limits=LIMITS,
    span=st.tuples(st.floats(-50, 0), st.floats(0, 50)),
)
def test_position_velocity_and_acceleration_stay_in_bounds(
    target: list[float], limits: tuple[float, float], span: tuple[float, float]
) -> None:
    maxv, maxa = limits
    out = np.concatenate([[0.0, 0.0], slewed(target, maxv, maxa, *span)])
    velocity = np.diff(out)
    assert (out >= span[0]).all()
    assert (out <= span[1]).all()
    assert np.abs(velocity).max() <= maxv * (1 + 1e-9) + 1e-9
    assert np.abs(np.diff(velocity)).max() <= maxa * (1 + 1e-6) + 1e-9


@settings(max_examples=30)
@given(goal=st.floats(-50, 50), start=st.lists(st.floats(-50, 50), max_size=10), limits=FAST)
def test_slew2_reaches_its_target_and_stays_there(goal: float, start: list[float], limits: tuple[float, float]) -> None:
    maxv, maxa = limits
    needed = int(300 / maxv + 4 * maxv / maxa + 60 / np.sqrt(maxa)) + 40
    out = slewed([*start, *[goal] * needed], maxv, maxa)
    assert (out[-20:] == goal).all()


@settings(max_examples=30)
@given(rate=st.floats(-0.9, 0.9), limits=st.tuples(st.floats(1, 5), st.floats(0.05, 5)))
def test_slew2_locks_onto_a_ramp(rate: float, limits: tuple[float, float]) -> None:
    maxv, maxa = limits
    ramp = 5 + rate * np.arange(400)
    out = slewed(ramp, maxv, maxa)
    assert out[-50:].tolist() == ramp[-50:].tolist()


def test_slew2_is_as_fast_as_its_limits_allow() -> None:
    out = slewed([8.0] * 10, maxv=2.0, maxa=1.0)
    assert out.tolist() == [1.0, 3.0, 5.0, 7.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0]


def test_slew2_jumps_on_load_and_returns_to_zero_if_disabled() -> None:
    sheet = ops.load("slew2")
    state = ops.start(sheet, 1, {"maxv": 1.0, "maxa": 1.0})
    state = ops.step(sheet, {**state, "in_": np.array([7.0]), "load": np.array([True])}, 1.0)
    assert state["out"].tolist() == [7.0]
    state = ops.step(sheet, {**state, "load": np.array([False]), "enable": np.array([False])}, 1.0)
    assert state["out"].tolist() == [6.0]


def closed_loop(gains: dict[str, float], steps: int, tick: float) -> Any:
    """Return the output of the third-order plant 1 / (s + 1)^3 when pid drives the output towards 1."""
    sheet = ops.load("pid")
    state = ops.start(sheet, 1, {"command": 1.0, "enable": True, **gains})
    plant, result = np.zeros(3), []
    for _ in range(steps):
        state = ops.step(sheet, {**state, "feedback": plant[2:].copy()}, tick)
        plant = plant_step(plant, float(state["output"][0]), tick)
        result.append(plant[2])
    return np.array(result)


def plant_step(plant: Any, drive: float, tick: float) -> Any:
    before = np.array([drive, plant[0], plant[1]])
    return plant + (before - plant) * tick


def test_autotune_finds_gains_that_control_the_plant() -> None:
    sheet = ops.load("autotune")
    state = ops.start(sheet, 1, {"cycles": 20, "effort": 1.0, "start": True})
    plant, tick = np.zeros(3), 0.01
    for _ in range(20_000):
        state = ops.step(sheet, {**state, "feedback": plant[2:].copy()}, tick)
        if state["done"][0]:
            break
        plant = plant_step(plant, float(state["output"][0]), tick)
    assert state["done"][0]
    assert state["output"][0] == 0.0
    assert state["ultimate_gain"][0] == pytest.approx(8.0, rel=0.1)
    assert state["ultimate_period"][0] == pytest.approx(2 * np.pi / np.sqrt(3), rel=0.05)
    gains = {name: float(state[name][0]) for name in ("Pgain", "Igain", "Dgain")}
    result = closed_loop(gains, 3000, tick)
    assert result[-500:] == pytest.approx(1.0, abs=0.02)


def first_alarm(shift: float, threshold: float, rows: int) -> Any:
    """Return the number of calls until the first alarm of a two-sided CUSUM with slack 0.5, for each row."""
    sheet = ops.load("cusum")
    state = ops.start(sheet, rows, {"threshold": threshold})
    random, alarm, call = np.random.default_rng(7), np.zeros(rows, int), 0
    while not alarm.all():
        call += 1
        state = ops.step(sheet, {**state, "in_": random.normal(shift, 1.0, rows)})
        alarm = np.where((alarm == 0) & (state["rose"] | state["fell"]), call, alarm)
    return alarm


@pytest.mark.parametrize(
    ("shift", "threshold", "published"), [(0.0, 4.0, 167.7), (1.0, 4.0, 8.38), (0.0, 5.0, 465.4), (1.0, 5.0, 10.38)]
)
def test_cusum_has_the_published_run_lengths(shift: float, threshold: float, published: float) -> None:
    lengths = first_alarm(shift, threshold, rows=4000)
    error = lengths.std(ddof=1) / np.sqrt(len(lengths))
    assert abs(lengths.mean() - published) < 3.5 * error
    assert error < 0.025 * published


def test_cusum_is_symmetric_and_reset_restarts_it() -> None:
    sheet = ops.load("cusum")
    values = np.random.default_rng(1).normal(0.5, 1, (50, 1))
    _, up = ops.run(sheet, ops.start(sheet), {"in": values})
    _, down = ops.run(sheet, ops.start(sheet), {"in": -values})
    assert up["high"].tolist() == down["low"].tolist()
    reset = np.zeros((50, 1), bool)
    reset[20] = True
    _, again = ops.run(sheet, ops.start(sheet), {"in": values, "reset": reset})
    _, fresh = ops.run(sheet, ops.start(sheet), {"in": values[20:]})
    assert again["high"][20:].tolist() == fresh["high"].tolist()


def test_page_hinkley_detects_shifts_and_resets() -> None:
    values = np.concatenate([np.zeros(50), np.ones(50)])[:, np.newaxis]
    sheet = ops.load("page-hinkley")
    for sign, pin in ((1, "rose"), (-1, "fell")):
        state, result = ops.run(sheet, ops.start(sheet, 1, {"threshold": 5.0}), {"in": sign * values})
        assert 50 < int(np.argmax(result[pin][:, 0])) < 65
        after = ops.step(sheet, {**state, "reset": np.array([True]), "in_": np.array([3.0])})
        assert (int(after["count"][0]), float(after["mean"][0]), bool(after[pin][0])) == (1, 3.0, False)
