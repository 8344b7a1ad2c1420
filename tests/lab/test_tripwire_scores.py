"""Tests that run lengths and rates of alarms equal published values and a plain loop, with and without censoring."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from malsim.base.errors import DataError
from malsim.lab.tripwire.runs.episode_scores import (
    MEANINGS,
    median_length,
    onsets,
    rate,
    run_length,
    scores,
    share,
    waits,
)
from malsim.lab.tripwire.runs.observation import replay, standalone
from malsim.lab.tripwire.runs.reference_charts import cusum, ewma
from malsim.netlist import parse
from malsim.netlist.wiring import link
from malsim.sim.world.draws import Draws

REPS = np.arange(400)


def normal(seed: int, ticks: int) -> np.ndarray[Any, Any]:
    draws = Draws(seed, "stream")
    return np.stack([draws.normal("x", rep=REPS, turn=tick) for tick in range(ticks)])


@pytest.mark.parametrize(
    ("net", "arl0", "arl1", "ticks"),
    [(cusum(threshold=4.0), 167.7, 8.38, 1400), (cusum(threshold=5.0), 465.4, 10.38, 1800), (ewma(), 500.0, 10.3, 1800)],
    ids=["cusum-4", "cusum-5", "ewma"],
)
def test_scores_reproduce_published_run_lengths(net: Any, arl0: float, arl1: float, ticks: int) -> None:
    quiet, shifted = normal(3, ticks), 1.0 + normal(4, 80)
    for values, name, published in ((quiet, "arl0", arl0), (shifted, "arl1", arl1)):
        alarm = replay(net, {"x": values}, ["alarm"])["alarm"]
        truth = np.full_like(alarm, name == "arl1")
        (figures,) = scores(alarm, truth).filter(metric=name).to_dicts()
        assert figures["low"] <= published <= figures["high"], figures
        assert figures["high"] - figures["low"] < 0.25 * published


bits = st.tuples(st.integers(1, 12), st.integers(1, 3)).flatmap(
    lambda shape: st.tuples(arrays(bool, shape), arrays(bool, shape))
)


@given(bits)
@settings(max_examples=60, deadline=None)
def test_scores_equal_those_of_a_plain_loop_over_ticks(case: tuple[Any, Any]) -> None:
    alarm, truth = case
    ticks, reps = alarm.shape
    false = quiet_watch = standing = quiet = missed = fresh = 0
    lengths: list[tuple[float, bool]] = []
    for rep in range(reps):
        inside = counted = detected = False
        length = 0
        for tick in range(ticks):
            before = tick > 0 and bool(alarm[tick - 1, rep])
            on, true = bool(alarm[tick, rep]), bool(truth[tick, rep])
            quiet += not true
            standing += on and not true
            quiet_watch += not true and not before
            false += on and not before and not true
            if true and not inside:
                inside, counted, detected, length = True, tick == 0 or not before, False, 0
            if inside and not true:
                inside = False
                if counted and not detected:
                    lengths.append((length, False))
                    missed, fresh = missed + 1, fresh + 1
            if inside and counted and not detected:
                length += 1
                if on:
                    detected = True
                    lengths.append((length, True))
                    fresh += 1
        if inside and counted and not detected:
            lengths.append((length, False))
            missed, fresh = missed + 1, fresh + 1
    figures = {row["metric"]: row for row in scores(alarm, truth).to_dicts()}
    assert set(figures) == set(MEANINGS)
    waiting, ended = waits(alarm, truth, skip=False)
    assert sorted(zip(waiting.tolist(), ended.tolist(), strict=True)) == sorted(lengths)
    assert figures["false alarms"]["value"] == (pytest.approx(1000 * false / quiet_watch) if quiet_watch else None)
    assert figures["standing"]["value"] == (pytest.approx(standing / quiet) if quiet else None)
    assert figures["missed"]["value"] == (pytest.approx(missed / fresh) if fresh else None)
    for row in figures.values():
        if row["value"] is not None:
            assert row["low"] is not None
            assert row["low"] <= row["value"] + 1e-12
            assert row["high"] >= row["value"] - 1e-12
            # The ends of the median's interval are observed delays, so tied delays can make the ends equal.
            ties = row["metric"] == "delay" and len(set(waiting.tolist())) < len(waiting)
            assert row["high"] > row["low"] or (ties and row["high"] == row["low"]), row


def test_estimate_of_censored_run_lengths_is_unbiased() -> None:
    """Runs are cut off at a third of the mean run length, which biases the plain mean but not the estimate."""
    rng = np.random.default_rng(5)
    covered = 0
    for _ in range(200):
        true = rng.geometric(1 / 300, size=60).astype(float)
        length, ended = np.minimum(true, 100.0), true <= 100
        figures = run_length(length, ended)
        assert length.mean() < 100
        assert "cut off" in figures.how
        covered += figures.low <= 300 <= figures.high
    assert 0.9 <= covered / 200 <= 1.0
    none = run_length(np.full(5, 100.0), np.zeros(5, bool))
    assert np.isnan(none.value)
    assert none.low > 100
    assert none.high == np.inf
    assert np.isnan(median_length(np.full(5, 100.0), np.zeros(5, bool)).value)


def test_median_run_length_is_the_kaplan_meier_estimate() -> None:
    """Computed by hand: 6, 5, 3 and 2 runs are at risk at the events on ticks 1, 3, 5 and 8."""
    length = np.array([1.0, 3.0, 4.0, 5.0, 8.0, 10.0])
    ended = np.array([True, True, False, True, True, False])
    figures = median_length(length, ended)
    assert figures.value == 5.0  # survival at tick 5: 5/6 · 4/5 · 2/3 = 0.444, the first value below 0.5
    assert figures.how == "Kaplan–Meier, 2 of 6 cut off"


def test_metric_without_any_events_has_an_interval() -> None:
    quiet = np.zeros((50, 4), dtype=bool)
    figures = {row["metric"]: row for row in scores(quiet, quiet).to_dicts()}
    assert figures["arl0"]["value"] is None
    assert figures["arl0"]["low"] == pytest.approx(200 / 3.688879, rel=1e-6)
    assert figures["false alarms"]["high"] == pytest.approx(1000 * 3.688879 / 200, rel=1e-6)
    assert figures["missed"]["value"] is None
    assert figures["missed"]["count"] == 0
    assert figures["standing"]["low"] == 0.0
    assert figures["standing"]["high"] > 0.0


def test_intervals_are_wider_if_alarms_cluster() -> None:
    exposure = np.full(40, 100.0)
    even, lumped = rate(np.full(40, 2.0), exposure), rate(np.repeat([8.0, 0.0], [10, 30]), exposure)
    assert even.value == lumped.value
    assert lumped.high - lumped.low > 1.5 * (even.high - even.low)
    calm, moody = share(np.tile([45.0, 55.0], 20), exposure), share(np.repeat([100.0, 0.0], 20), exposure)
    assert moody.high - moody.low > 3 * (calm.high - calm.low)


def test_chatter_and_flood_follow_their_definitions() -> None:
    alarm = np.array([[0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 1]], dtype=bool).T
    figures = {row["metric"]: row for row in scores(alarm, np.zeros_like(alarm)).to_dicts()}
    assert onsets(alarm).sum() == 5
    assert figures["chatter"]["value"] == pytest.approx(3 / 5)
    assert figures["flood"]["value"] == pytest.approx(5 / 13)


def test_mismatched_arrays_are_refused() -> None:
    net = cusum()
    with pytest.raises(DataError, match="no such signal"):
        replay(net, {"y": np.zeros((3, 2))}, ["alarm"])
    with pytest.raises(DataError, match="the same shape"):
        replay(net, {"x": np.zeros(3)}, ["alarm"])
    with pytest.raises(DataError, match="the same shape"):
        scores(np.zeros((3, 2), bool), np.zeros((2, 2), bool))


def test_standalone_net_takes_cells_and_reviewer_as_inputs() -> None:
    text = "loadrt watch\nloadrt latch\nnet eff watch.in < mean(cell-scores-eff)\nnet low watch.below > latch.set\n"
    text += "net ack reviewer.ack > latch.reset\nnet out latch.out > webhook.page\naddf watch tick\naddf latch tick\n"
    net = standalone(link(parse("setp watch.level 0.5\n" + text)))
    stream = {"eff": np.array([[0.9, 0.2], [0.4, 0.6]]), "ack": np.array([[False, False], [False, True]])}
    outputs = replay(net, stream, ["low", "out"])
    assert outputs["low"].tolist() == [[False, True], [True, False]]
    assert outputs["out"].tolist() == [[False, True], [True, False]]
