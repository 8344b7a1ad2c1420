"""Rankings by paired replications: as sure as they say, and no surer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from malsim.base.errors import MalsimError
from malsim.lab.studies.paired_ranking import Ranking, rank, replications_for

Array = NDArray[np.float64]
TABLES = st.tuples(st.integers(2, 5), st.integers(2, 24), st.integers(0, 99))


def drawn(memories: int, n: int, seed: int, *, questions: int = 40) -> dict[str, Array]:
    """Shares right of so many questions, by memories that are equally good: some luck is common, some is not."""
    draw = np.random.default_rng([seed, memories, n])
    hard = draw.normal(0.0, 0.05, n)
    return {f"m{number}": draw.binomial(questions, np.clip(0.8 + hard, 0.0, 1.0)) / questions for number in range(memories)}


@given(TABLES, st.floats(-2.0, 2.0))
@settings(max_examples=30, deadline=None)
def test_ranks_are_intervals_that_agree_with_what_is_told_apart(sizes: tuple[int, int, int], lead: float) -> None:
    values = drawn(*sizes)
    values["m0"] = values["m0"] + lead
    table = rank(values)
    assert list(table.mean) == sorted(table.mean, reverse=True)
    assert (table.better.sum(axis=0) == [first - 1 for first, _ in table.ranks]).all()
    assert all(first <= place <= last for place, (first, last) in enumerate(table.ranks, 1))
    assert {name for group in table.groups for name in group} == set(values)
    assert not any(table.differ(one, other) for group in table.groups for one in group for other in group)
    assert ((table.low <= table.mean) & (table.mean <= table.high)).all()
    upside_down = rank({name: -each for name, each in values.items()}, higher_is_better=False)
    assert (upside_down.names, upside_down.ranks) == (table.names, table.ranks)


@given(TABLES)
@settings(max_examples=20, deadline=None)
def test_a_memory_under_another_name_is_equal_to_itself_and_changes_no_place(sizes: tuple[int, int, int]) -> None:
    values = drawn(*sizes)
    table = rank(values | {"again": values["m0"]})
    assert not table.differ("m0", "again")
    assert table.difference("m0", "again")[0] == 0.0
    places = dict(zip(table.names, table.ranks, strict=True))
    assert places["m0"] == places["again"]


def test_what_differs_alike_in_each_replication_takes_enough_of_them() -> None:
    def board(n: int) -> Ranking:
        return rank({"a": np.ones(n), "b": np.zeros(n), "c": np.zeros(n)})

    assert board(4).groups == [("a", "b", "c")]
    assert board(8).groups == [("a",), ("b", "c")]
    assert board(8).frame["rank"].to_list() == ["1", "2 to 3", "2 to 3"]


@pytest.mark.parametrize("n", [8, 24])
def test_equal_memories_are_told_apart_in_a_twentieth_of_boards_at_most(n: int) -> None:
    boards = [rank(drawn(6, n, seed), seed=seed) for seed in range(200)]
    assert np.mean([board.differ("m0", "m1") for board in boards]) <= 0.05
    assert np.mean([not board.better.any() for board in boards]) >= 0.93  # all fifteen intervals hold 0 at once


def test_a_planted_order_is_found_as_often_as_promised() -> None:
    n = replications_for(0.02, 0.03, pairs=1, power=0.8)
    draw = np.random.default_rng(7)
    found = 0
    for _ in range(200):
        luck, noise = draw.normal(0.7, 0.1, n), draw.normal(0.0, 0.03, n)
        found += bool(rank({"better": luck + 0.02 + noise, "worse": luck}).better[0, 1])
    assert 0.72 <= found / 200 <= 0.9  # .8, and two and a half standard errors


def test_bad_input_is_refused() -> None:
    with pytest.raises(MalsimError, match="two memories"):
        rank({"a": [1.0, 2.0]})
    with pytest.raises(MalsimError, match="not the same replications"):
        rank({"a": [1.0, 2.0], "b": [1.0]})
    with pytest.raises(MalsimError, match="too few"):
        rank({"a": [1.0, np.nan, 2.0], "b": [np.nan, 1.0, 2.0]})
    with pytest.raises(MalsimError, match="no such difference"):
        replications_for(0.0, 1.0)
