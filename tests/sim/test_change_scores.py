"""Tests of scores for facts whose true value changes, on short examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from malsim.sim.record.change_scores import ChangeScores
from malsim.sim.world.censored_times import own_means

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Array

TRUTH = [0, 0, 1, 1, 1, 0, 0, 1]
ANSWER = [0, 0, 0, 1, 1, 1, 0, 0]


def story(*, worth: float = 0.9, truth: list[int] = TRUTH, answer: list[int | None] | None = None) -> ChangeScores:
    """Return the scores for one fact with two values; `worth` is the effective confidence of each daily answer."""
    scores = ChangeScores(1, 1, 2, 3)
    for day, (true, value) in enumerate(zip(truth, answer or ANSWER, strict=True)):
        best: Array = np.full((2, 1, 1), 0.1 if value is not None else -np.inf)
        if value is not None:
            best[value] = worth
        right = np.array([[np.nan if value is None else float(value == true)]])
        scores.add(float(day), np.array([[true]]), right, best, believes=True)
    scores.close(8.0)
    return scores


def figure(scores: ChangeScores, name: str) -> float:
    return float(scores.figures()[name][0])


def test_latency_runs_from_the_change_to_the_first_right_answer() -> None:
    # the truth changes on days 2, 5 and 7; the answer follows on days 3 and 6, and the run ends on day 8
    assert figure(story(), "invalidation_latency") == pytest.approx(alone([1.0, 1.0, 1.0], [True, True, False]))


def alone(days: list[float], ended: list[bool]) -> float:
    return float(own_means([(np.zeros(len(days), dtype=np.int64), np.array(days), np.array(ended))], 1)[0])


def test_returned_is_the_share_of_reversions_the_answer_follows() -> None:
    # the answer follows the truth back to 0 on day 5, but not back to 1 on day 7
    assert figure(story(), "returned") == pytest.approx(0.5)
    never = story(answer=[0, 0, 0, 1, 1, 1, 1, 1])
    assert figure(never, "returned") == pytest.approx(0.5)  # the answer stays 1, which is right again from day 7


def test_stale_answer_is_the_value_before_the_change() -> None:
    # on each day on which the truth changes, the answer is still the old value
    assert figure(story(), "stale_share_1d") == pytest.approx(1.0)
    assert figure(story(), "stale_share_7d") == pytest.approx(0.0)


def test_missing_answer_counts_as_neither_stale_nor_right() -> None:
    silent = story(answer=[None] * 8)
    assert np.isnan(figure(silent, "stale_share_1d"))
    assert figure(silent, "undecided") == 1.0
    assert figure(silent, "decision_score") == 0.0


def test_contested_and_undecided_count_beliefs_above_one_half() -> None:
    scores = ChangeScores(1, 1, 2, 1)
    for day, pair in enumerate([(0.9, 0.8), (0.4, 0.3), (0.9, 0.2), (0.2, 0.6)]):
        best = np.array(pair).reshape(2, 1, 1)
        scores.add(float(day), np.zeros((1, 1), dtype=np.int64), np.array([[float(pair[0] > pair[1])]]), best, believes=True)
    assert figure(scores, "contested") == 0.25
    assert figure(scores, "undecided") == 0.25
    assert figure(scores, "decision_score") == pytest.approx((2 - 1) / 4)


def test_answer_with_fewer_writers_than_its_rival_is_an_echo() -> None:
    scores = story()
    assert figure(scores, "echo_share") == 0.0
    # one writer claims 0 three times; two writers claim 1 once each
    ints = [np.array(part) for part in ([0, 0, 0, 1, 1], [0] * 5, [0] * 5, [0, 0, 0, 1, 2])]
    scores.add_voices(*ints)
    scores.add(9.0, np.array([[1]]), np.array([[0.0]]), np.array([0.9, 0.1]).reshape(2, 1, 1), believes=True)
    assert figure(scores, "echo_share") == pytest.approx(1 / 9)


def test_answer_that_never_changes_has_no_mean_latency() -> None:
    stuck = story(truth=[0, 1, 1, 1], answer=[0, 0, 0, 0])
    # the answer is never corrected, so the mean is unknown
    assert np.isnan(figure(stuck, "invalidation_latency"))
    assert np.isnan(figure(stuck, "time_to_correction"))
