"""The push's ranking law: each term, each replication by itself, ties."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from malsim.memory import Rules
from malsim.memory.ranking import foremost, fused

candidates = st.lists(
    st.tuples(
        st.integers(0, 3),  # replication
        st.floats(0.0, 50.0),  # match
        st.integers(0, 40),  # degree
        st.floats(0.0, 1.0),  # effective
        st.floats(-5.0, 400.0),  # age
        st.booleans(),  # a reference
    ),
    min_size=1,
    max_size=30,
)


def columns(rows: list[Any]) -> tuple[Any, ...]:
    rep, *rest, reference = (np.array(column) for column in zip(*rows, strict=True))
    return rep.astype(np.int64), *(column.astype(np.float64) for column in rest), reference.astype(bool)


@given(candidates)
def test_a_score_is_the_sum_of_four_terms_each_within_its_weight(rows: list[Any]) -> None:
    rep, match, degree, worth, age, reference = columns(rows)
    rules = Rules()
    score = fused(match, degree, worth, age, rules, reference=reference, rep=rep)
    assert (score >= 0.0).all()
    assert (score <= rules.rank_lexical + rules.rank_degree + rules.rank_effective + rules.rank_recency + 1e-12).all()
    parts = ("rank_lexical", "rank_degree", "rank_effective", "rank_recency")
    without: list[dict[str, Any]] = [dict.fromkeys(set(parts) - {part}, 0.0) for part in parts]
    alone = [rules.replace(**changes) for changes in without]
    summed = sum(fused(match, degree, worth, age, one, reference=reference, rep=rep) for one in alone)
    np.testing.assert_allclose(summed, score, rtol=0, atol=1e-12)


@given(candidates, st.integers(1, 12))
def test_a_replication_ranks_as_it_does_alone(rows: list[Any], limit: int) -> None:
    rep, match, degree, worth, age, reference = columns(rows)
    score = fused(match, degree, worth, age, Rules(), reference=reference, rep=rep)
    best = foremost(score, -age, limit=limit, rep=rep)
    for one in np.unique(rep):
        own = np.flatnonzero(rep == one)
        alone = fused(match[own], degree[own], worth[own], age[own], Rules(), reference=reference[own])
        np.testing.assert_array_equal(alone, score[own])
        np.testing.assert_array_equal(own[foremost(alone, -age[own], limit=limit)], best[rep[best] == one])


@given(candidates, st.integers(1, 12))
def test_the_foremost_are_the_best_in_order(rows: list[Any], limit: int) -> None:
    rep, match, _, _, age, _ = columns(rows)
    best = foremost(match, -age, limit=limit, rep=rep).tolist()
    every = sorted(range(len(rows)), key=lambda row: (rep[row], -match[row], age[row], row))
    expected = [row for one in np.unique(rep) for row in [row for row in every if rep[row] == one][:limit]]
    assert best == expected


def test_a_better_match_a_hub_a_trusted_and_a_fresh_cell_rank_before_their_like() -> None:
    same = np.ones(2)
    for name in ("match", "degree", "worth", "age"):
        parts = {"match": same, "degree": same, "worth": same * 0.5, "age": same} | {name: np.array([0.2, 0.9])}
        score = fused(parts["match"], parts["degree"], parts["worth"], parts["age"], Rules())
        assert (score[1] > score[0]) == (name != "age"), name
    reference = fused(same, same, same, same, Rules(), reference=np.array([True, False]))
    assert reference[0] < reference[1]


def test_nothing_to_rank_is_no_error() -> None:
    nothing = np.zeros(0)
    assert fused(nothing, nothing, nothing, nothing, Rules()).size == 0
    assert foremost(nothing, nothing, limit=5).size == 0
