"""Alarm shorthand: series in, states expected, at times, in ranges, and only where something is said."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malsim.base.errors import ScenarioError
from malsim.scenario.checks.alarms import STATES, check_alarm, series, states
from malsim.scenario.properties import Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

numbers = st.floats(-1e6, 1e6).map(lambda number: round(number, 6) + 0.0)


@given(st.lists(st.tuples(st.none() | numbers, st.none() | numbers, st.none() | st.integers(1, 30)), min_size=1))
def test_series_expand_their_items(items: list[tuple[float | None, float | None, int | None]]) -> None:
    words, values = [], []
    for start, step, count in items:
        rise = None if start is None or count is None else step
        word = "_" if start is None else repr(start)
        words.append(word + ("" if rise is None else f"{rise:+}") + ("" if count is None else f"x{count}"))
        values += [math.nan if start is None else start + (rise or 0.0) * tick for tick in range(count or 1)]
    if all(math.isnan(value) for value in values):
        with pytest.raises(ScenarioError, match="needs finite numbers"):
            series(" ".join(words))
    else:
        np.testing.assert_array_equal(series(" ".join(words)), values)


def test_the_published_example() -> None:
    found = series("0.9x5 0.4+0.02x20 _x3")
    assert len(found) == 28
    assert found[:5].tolist() == [0.9] * 5
    assert found[24] == pytest.approx(0.4 + 19 * 0.02)
    assert np.isnan(found[25:]).all()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "needs finite numbers"),
        ("_x3", "needs finite numbers"),
        ("1e999", "needs finite numbers"),
        ("0.9x5 nan", "item 2: not an item"),
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
def test_empty_series_are_refused(text: str, words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        series(text)


bits = st.lists(st.sampled_from([0.0, 1.0, math.nan]), min_size=1, max_size=12)


@given(bits, st.data())
def test_alarm_states_follow_the_bits(alarm: list[float], data: st.DataObject) -> None:
    condition = data.draw(st.lists(st.sampled_from([0.0, 1.0]), min_size=len(alarm), max_size=len(alarm)))
    found = states(column(alarm), column(condition)).ravel().tolist()
    for tick, state in enumerate(found):
        ever = 1.0 in alarm[: tick + 1]
        said = {0.0: "cleared" if ever else "quiet", 1.0: "tripped" if condition[tick] else "latched"}
        assert state == (None if math.isnan(alarm[tick]) else said[alarm[tick]])


def column(values: list[float]) -> NDArray[np.float64]:
    return np.array(values).reshape(-1, 1)


def a_trip() -> Trace:
    """Ticks on days 1 to 8, in two replications; the second trips a tick later."""
    bad = np.array([[0, 0, 1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0, 0, 0]], dtype=float).T
    out = np.array([[0, 0, 1, 1, 1, 0, 0, math.nan], [0, 0, 0, 1, 1, 0, 0, 0]]).T
    return Trace.of_arrays(range(1, 9), {"alarm.out": out, "bad": bad})


def test_expected_states_at_ticks_times_and_ranges() -> None:
    trace = a_trip()
    for expected in (
        {"0..1": "quiet", "3": "tripped", "4": "latched", "5..6": "cleared"},
        {"1d..2d": "quiet", "4d": "tripped", "120h": "latched"},
        {"2": "quiet|tripped", "3..4": "tripped|latched"},
        {"0": "quiet"},
    ):
        assert check_alarm(expected, trace, alarm="alarm.out", condition="bad").passed, expected


def test_differences_name_tick_day_replication_expected_and_got() -> None:
    found = check_alarm({"2": "tripped", "6..": "cleared"}, a_trip(), alarm="alarm.out", condition="bad")
    assert found.differences.rows() == [(3.0, 2, 1, "tripped", "quiet"), (8.0, 7, 0, "cleared", None)]
    assert str(found) == "tick 2 (day 3), replication 1: expected tripped, got quiet (and 1 more)"
    assert not check_alarm({"4": "latched"}, a_trip(), alarm="alarm.out").passed


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        ({}, "no state is expected"),
        ({"3": "on"}, "not a state"),
        ({"3": ""}, "not a state"),
        ({"3": "|".join(STATES)}, "not a state"),
        ({"8": "quiet"}, "no tick is at this time"),
        ({"36h": "quiet"}, "no tick is at this time"),
        ({"1d..90d": "quiet"}, "no tick is at this time"),
        ({"5..3": "quiet"}, "no tick is at this time"),
        ({"9..": "quiet"}, "no tick is at this time"),
        ({"soon": "quiet"}, "not a time"),
        ({"3 years": "quiet"}, "not a duration"),
        ({"0..3": "quiet", "2": "tripped"}, "contradict"),
    ],
)
def test_invalid_expectations_are_refused(expected: dict[str, str], words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        check_alarm(expected, a_trip(), alarm="alarm.out", condition="bad")


def test_alarm_must_be_an_existing_bit() -> None:
    trace = Trace.of_arrays(range(2), {"level": column([0.5, 1.0])})
    with pytest.raises(ScenarioError, match="not a bit"):
        check_alarm({"0": "quiet"}, trace, alarm="level")
    with pytest.raises(ScenarioError, match="no such series"):
        check_alarm({"0": "quiet"}, trace, alarm="levle")
