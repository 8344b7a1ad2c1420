"""The search alone, on a memory small enough to spell out: every planted break found, and with fewer runs than at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from malsim.lab.falsify.margin_search import search
from malsim.lab.falsify.schedule import COORDINATES, WriteSchedule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from malsim.lab.falsify.margin_search import Method, Trail

PLAN = WriteSchedule(
    writes=5, turns=12, writers=("ann", "mal"), relations=("contradicts", "supports"), targets=("a", "b", "c")
)
SEEDS = range(3)
BUDGET = 400
AT_RANDOM = 120  # runs after which random search is no longer waited for


@dataclass(frozen=True)
class Paper:
    """What a run of the paper memory showed."""

    margin: float

    @property
    def broken(self) -> bool:
        return self.margin < 0


def worth_and_claims(point: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Worth of the three targets at each turn, and how many claims mal has made by then.

    A claim counts in full in its turn and loses a fifth of that in each that follows.
    """
    masses, mal = np.zeros((2, 3, PLAN.turns)), np.zeros(PLAN.turns)
    after = np.arange(PLAN.turns)
    for item in PLAN.at(point).writes:
        side, target = PLAN.relations.index(item.relation), PLAN.targets.index(item.target)
        masses[side, target] += np.where(after >= item.turn, item.confidence * 0.8 ** (after - item.turn), 0.0)
        mal += (after >= item.turn) * (item.writer == "mal")
    worth = np.array([0.9, 0.8, 0.7])[:, None] - 0.6 * np.tanh(masses[0]) + 0.15 * np.tanh(masses[1])
    return np.clip(worth, 0, 1), mal


BREAKS: dict[str, Callable[[Any, Any], float]] = {
    "a falls low": lambda worth, _: worth[0].min() - 0.36,
    "b falls lower": lambda worth, _: worth[1].min() - 0.24,
    "a and b are low at once": lambda worth, _: np.maximum(worth[0] - 0.5, worth[1] - 0.4).min(),
    "all three are low in the course": lambda worth, _: np.max(worth.min(axis=1) - [0.5, 0.4, 0.3]),
    "c is low at the end": lambda worth, _: worth[2, -2:].min() - 0.15,
    "a is low for five turns": lambda worth, _: min(worth[0, n : n + 5].max() for n in range(8)) - 0.48,
    "a is above c by much": lambda worth, _: 0.82 - (worth[0] - worth[2]).max(),
    "mal writes four times and b is low": lambda worth, mal: max(1 - mal[-1] / 4 + 0.01, (worth[1].min() - 0.45)),
    "b swings": lambda worth, _: 0.5 - np.ptp(worth[1, 6:]),
    "first c, then a": lambda worth, _: max(worth[2, :6].min() - 0.25, worth[0, 8:].min() - 0.42),
    "c is high while a is low": lambda worth, _: np.maximum(0.8 - worth[2], worth[0] - 0.45).min(),
    "b is low, and mal never wrote": lambda worth, mal: max(worth[1].min() - 0.28, (mal[-1] - 0.5) / 5),
}


def ran(name: str, seed: int, method: Method, *, at_once: int = 1) -> Trail[Paper]:
    def evaluate(points: Sequence[Any]) -> Iterator[Paper]:
        papers = (Paper(BREAKS[name](*worth_and_claims(point))) for point in points)
        return iter(list(papers)) if at_once > 1 else papers

    return search(
        PLAN.size,
        evaluate,
        budget=BUDGET if method == "search" else AT_RANDOM,
        key=lambda point: PLAN.at(point).key,
        rank=lambda runs: [item.margin for item in runs],
        block=COORDINATES,
        seed=seed,
        method=method,
    )


def runs(name: str, method: Method) -> list[int]:
    trails = [ran(name, seed, method) for seed in SEEDS]
    return [BUDGET if item.broken is None else item.broken + 1 for item in trails]


@pytest.mark.parametrize("name", BREAKS)
def test_search_needs_fewer_runs_than_random_points(name: str) -> None:
    guided = runs(name, "search")
    assert max(guided) < BUDGET
    assert np.median(guided) < np.median(runs(name, "random"))


def test_result_is_independent_of_the_number_of_workers() -> None:
    item, many = (ran("first c, then a", 1, "search", at_once=count) for count in (1, 12))
    assert item.broken == many.broken
    assert item.phases == many.phases
    np.testing.assert_array_equal(np.array(item.points), np.array(many.points))


def test_budget_is_never_exceeded() -> None:
    calls: list[Any] = []

    def evaluate(points: Sequence[Any]) -> Iterator[Paper]:
        calls.extend(points)
        return (Paper(1.0) for _ in points)

    methods: tuple[Method, ...] = ("search", "random")
    for method in methods:
        calls.clear()
        trail = search(
            3, evaluate, budget=21, key=lambda point: point.tobytes(), rank=lambda runs: [1.0] * len(runs), method=method
        )
        assert len(calls) == len(trail.runs) == 21
        assert trail.broken is None
        alone = search(3, evaluate, budget=21, key=lambda _: 0, rank=lambda runs: [1.0] * len(runs), method=method)
        assert len(alone.runs) == 1
