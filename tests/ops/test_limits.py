"""Tests of ops without a HAL counterpart, compared with related ops in limiting cases."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ops

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40)


def run(op: str, columns: dict[str, Any], settings: dict[str, Any] | None = None, *, tick: str = "6h", **sizes: int) -> Any:
    sheet = ops.load(op, **sizes)
    stream = {pin: np.asarray(values)[:, np.newaxis] for pin, values in columns.items()}
    _, result = ops.run(sheet, ops.start(sheet, 1, settings), stream, tick=tick)
    return {pin: array[:, 0] for pin, array in result.items()}


@given(values=VALUES)
def test_trend_of_two_values_is_a_derivative(values: list[float]) -> None:
    trend = run("trend", {"in": values}, window=2)
    assert trend["slope"][1:].tolist() == run("ddt", {"in": values})["out"][1:].tolist()
    assert trend["valid"].tolist() == [False] + [True] * (len(values) - 1)


@given(values=st.lists(st.floats(-100, 100), min_size=4, max_size=12))
def test_trend_is_the_slope_of_the_least_squares_line(values: list[float]) -> None:
    result = run("trend", {"in": values}, window=len(values))
    t, half = np.arange(len(values)) / 4, len(values) // 2
    assert result["slope"][-1] == pytest.approx(np.polyfit(t, values, 1)[0], abs=1e-8)
    late, early = np.polyfit(t[half:], values[half:], 1)[0], np.polyfit(t[:half], values[:half], 1)[0]
    assert result["acceleration"][-1] == pytest.approx(late - early, abs=1e-7)


def test_quorum_of_two_in_three_equals_maj3() -> None:
    votes = np.array(list(product([False, True], repeat=3))).T
    quorum = run("quorum", {f"in-{n}": votes[n] for n in range(3)}, {"need": 2}, inputs=3)
    maj3 = run("maj3", {f"in-{n}": votes[n] for n in range(3)})
    assert quorum["out"].tolist() == maj3["out"].tolist() == (votes.sum(axis=0) >= 2).tolist()


@pytest.mark.parametrize(
    ("ratio", "present", "needed"), [(0.5, 3, 2), (2 / 3, 3, 2), (0.55, 20, 11), (1.0, 4, 4), (0.01, 5, 1)]
)
def test_quorum_ratio_counts_only_valid_inputs(ratio: float, present: int, needed: int) -> None:
    valid = {f"valid-{n}": [n < present] * (present + 1) for n in range(20)}
    votes = {f"in-{n}": [n < k for k in range(present + 1)] for n in range(20)}
    result = run("quorum", {**valid, **votes}, {"ratio": ratio}, inputs=20)
    assert result["out"].tolist() == [k >= needed for k in range(present + 1)]


def test_quorum_without_inputs_is_false() -> None:
    result = run("quorum", {"valid-0": [False], "valid-1": [False]}, {"ratio": 0.5})
    assert (bool(result["out"][0]), int(result["present"][0])) == (False, 0)


@given(pairs=st.lists(st.tuples(st.floats(-9, 9), st.floats(-9, 9)), min_size=1, max_size=20))
def test_score_of_two_inputs_equals_sum2(pairs: list[tuple[float, float]]) -> None:
    columns = {"in-0": [a for a, _ in pairs], "in-1": [b for _, b in pairs]}
    gains = {"gain-0": 0.3, "gain-1": -1.7, "offset": 0.1}
    assert run("score", columns, gains)["raw"].tolist() == run("sum2", columns, gains)["out"].tolist()


@given(values=st.lists(st.floats(-2, 2), min_size=1, max_size=40), width=st.floats(0, 1))
def test_watch_is_a_comparator_with_a_counter(values: list[float], width: float) -> None:
    result = run("watch", {"in": values}, {"level": 0.25, "hysteresis": width})
    comp = run("comp", {"in-1": values}, {"in-0": 0.25, "hysteresis": width})
    half = 0.5 * width
    clear = np.abs(np.array(values) - 0.25) > half + 1e-12
    assert result["above"][clear].tolist() == comp["out"][clear].tolist()
    assert (result["above"] != result["below"]).all()
    crossings = np.diff(result["above"].astype(int))
    assert result["rose"].tolist() == [False, *(crossings > 0)]
    assert result["fell"].tolist() == [False, *(crossings < 0)]
    assert result["count"].tolist() == np.cumsum(result["rose"] | result["fell"]).tolist()


def test_watch_treats_nan_as_neither_above_nor_below() -> None:
    result = run("watch", {"in": [0.0, np.nan, 1.0, 0.0]}, {"level": 0.5})
    assert result["above"].tolist() == [False, False, True, False]
    assert result["below"].tolist() == [True, False, False, True]
    assert (result["rose"].any(), result["fell"].tolist()) == (False, [False, False, False, True])
    assert result["since"].tolist() == [0, 1, 2, 0]


@given(values=st.lists(st.floats(-2, 2), min_size=1, max_size=40), limit=st.floats(0, 1))
def test_plain_drift_compares_the_error_with_the_limit(values: list[float], limit: float) -> None:
    result = run("drift", {"in": values}, {"limit": limit})
    error = np.array(values) - values[0]
    assert result["error"].tolist() == error.tolist()
    assert result["drifted"].tolist() == (np.abs(error) > limit).tolist()
    assert result["age"].tolist() == list(range(len(values)))


@given(values=st.lists(st.floats(-2, 2), min_size=2, max_size=40), delay=st.integers(0, 4))
def test_hold_parameter_of_drift_works_like_dbounce(values: list[float], delay: int) -> None:
    result = run("drift", {"in": values}, {"limit": 0.5, "hold": delay})
    bounced = run("dbounce", {"in": result["outside"]}, {"delay": delay})
    assert result["drifted"].tolist() == bounced["out"].tolist()


def test_drift_stops_adapting_once_drifted() -> None:
    ramp = np.linspace(0, 10, 101)
    result = run("drift", {"in": ramp}, {"limit": 0.5, "adapt": 0.1})
    first = int(np.argmax(result["drifted"]))
    assert result["drifted"][first:].all()
    assert len(set(result["baseline"][first:])) == 1


def test_drift_captures_only_on_a_rising_edge() -> None:
    capture = [False, False, True, True, False, True]
    result = run("drift", {"in": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "capture": capture})
    assert result["baseline"].tolist() == [1.0, 1.0, 3.0, 3.0, 3.0, 6.0]
    assert result["age"].tolist() == [0, 1, 0, 1, 2, 0]


@given(n=st.integers(1, 40))
def test_lag_does_not_depend_on_the_tick_length(n: int) -> None:
    once = run("lag", {"in": [1.0]}, {"tau": "10h"}, tick="12h")["out"][-1]
    many = run("lag", {"in": [1.0] * n}, {"tau": "10h"}, tick=f"{43_200_000 / n!r}ms")["out"][-1]
    assert many == pytest.approx(once, rel=1e-12)


@given(values=VALUES, gain=st.floats(0, 1))
def test_smooth_stays_within_its_input_range(values: list[float], gain: float) -> None:
    out = run("smooth", {"in": values}, {"gain": gain})["out"]
    assert (out <= max(0, *values) + 1e-6).all()
    assert (out >= min(0, *values) - 1e-6).all()


GATES: dict[str, Any] = {"and": all, "or": any, "nand": lambda bits: not all(bits), "nor": lambda bits: not any(bits),
                         "xor": lambda bits: sum(bits) % 2 == 1}  # fmt: skip


@pytest.mark.parametrize(
    "name", ["and2", "and3", "and4", "and5", "or2", "or3", "or4", "or5", "xor2", "xor3", "nand2", "nor2"]
)
def test_gate_matches_its_truth_table(name: str) -> None:
    rows = list(product([False, True], repeat=int(name[-1])))
    columns = {f"in-{n}": [row[n] for row in rows] for n in range(len(rows[0]))}
    assert run(name, columns)["out"].tolist() == list(map(GATES[name[:-1]], rows))


@given(values=st.lists(st.floats(-9, 9), min_size=1, max_size=20), depth=st.integers(1, 6))
def test_replay_of_a_recording_reproduces_the_signal(values: list[float], depth: int) -> None:
    recorder = ops.load("record", depth=depth)
    state, result = ops.run(recorder, ops.start(recorder), {"in": np.array(values)[:, np.newaxis]})
    player = ops.load("replay", depth=depth)
    ready = {**ops.start(player), "kept": state["kept"], "first": state["first"], "held": state["held"]}
    _, played = ops.run(player, ready, {"write": np.zeros((len(values), 1), bool)})
    last_values = values[:depth]
    assert played["out"][: len(last_values), 0].tolist() == last_values
    assert int(result["overruns"][-1, 0]) == int(played["underruns"][-1, 0]) == max(len(values) - depth, 0)


@given(values=st.lists(st.floats(-9, 9), min_size=1, max_size=20), depth=st.integers(1, 6))
def test_record_with_keep_new_stores_the_last_values(values: list[float], depth: int) -> None:
    sheet = ops.load("record", depth=depth)
    state, _ = ops.run(sheet, ops.start(sheet, 1, {"keep-new": True}), {"in": np.array(values)[:, np.newaxis]})
    first, count = int(state["first"][0]), int(state["held"][0])
    order = (first + np.arange(count)) % depth
    assert state["kept"][order, 0].tolist() == values[-depth:]
    assert state["stamp"][order, 0].tolist() == list(range(len(values) - count + 1, len(values) + 1))


@pytest.mark.parametrize(
    ("settings", "out", "underruns"),
    [({}, [1.0, 2.0, 2.0, 2.0], 2), ({"loop": True}, [1.0, 2.0, 1.0, 2.0], 0), ({"stop": True}, [1.0, 2.0, 0.0, 0.0], 0)],
)
def test_replay_holds_loops_or_stops_at_its_end(settings: dict[str, Any], out: list[float], underruns: int) -> None:
    sheet = ops.load("replay", depth=4)
    ready = {**ops.start(sheet, 1, settings), "kept": np.array([[1.0], [2.0], [0.0], [0.0]]), "held": np.array([2])}
    _, result = ops.run(sheet, ready, {"write": np.zeros((4, 1), bool)})
    assert result["out"][:, 0].tolist() == out
    assert int(result["underruns"][-1, 0]) == underruns
    assert bool(result["done"][-1, 0]) == ("stop" in settings)


def test_ladder_lights_every_bit_up_to_the_highest() -> None:
    bar = run("ladder", {"bit-0": [False, True, False, True], "bit-2": [False, False, True, True]}, outputs=3)
    assert [sum(bool(bar[f"out-{n}"][call]) << n for n in range(3)) for call in range(4)] == [0b000, 0b001, 0b111, 0b111]


def test_watchdog_trips_once_and_rearms_on_a_rising_enable() -> None:
    columns = {"in-0": [1.0, *[2.0] * 7, 3.0], "enable": [True] * 6 + [False, True, True]}
    result = run("watchdog", columns, {"timeout-0": "30min"}, tick="10min", inputs=1)
    assert result["ok"].tolist() == [True, True, True, True, True, False, False, True, True]
    assert result["tripped"].tolist() == [False] * 5 + [True, True, False, False]


def test_watchdog_treats_constant_nan_as_unchanged() -> None:
    result = run("watchdog", {"in-0": [np.nan] * 5, "enable": [True] * 5}, {"timeout-0": "2d"}, tick="1d", inputs=1)
    assert result["tripped"].tolist() == [False, False, False, True, True]


def test_timers_count_whole_ticks() -> None:
    pulse = run("oneshot", {"in": [True] * 8}, {"width": "30min"}, tick="10min")
    assert pulse["out"].tolist() == [True] * 3 + [False] * 5
    late = run("timedelay", {"in": [True] * 5}, {"on-delay": "30min"}, tick="10min")
    assert late["out"].tolist() == [False, False, True, True, True]
