"""Tests of how a push ranks its lines and marks them with `^`."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from malsim.memory import Rules
from malsim.memory.push.ranking import marked, rank_score, top_k

RULES = Rules()
shares = st.floats(0.0, 1.0)
lines = st.lists(st.tuples(shares, shares, shares, *[st.booleans()] * 4), max_size=8)
NAMES = ("stated", "effective", "currency", "superseded", "contradicted", "overdue", "requires_review")
candidates = st.lists(
    st.tuples(
        st.integers(0, 3),  # row in the candidate table
        st.floats(0.0, 50.0),  # match score
        st.integers(0, 40),  # degree of the cell
        st.floats(0.0, 1.0),  # effective confidence
        st.floats(-5.0, 400.0),  # age in days
        st.booleans(),  # True for a reference
    ),
    min_size=1,
    max_size=30,
)


def ranked(rows: list[Any], rules: Rules) -> tuple[Any, Any, Any]:
    row, match, degree, worth, age, reference = (np.array(column) for column in zip(*sorted(rows), strict=True))
    score = rank_score(match, degree.astype(np.float64), worth, age, rules, reference=reference, row=row)
    return row == np.arange(4)[:, None], score, age


@given(candidates)
def test_score_is_the_sum_of_four_weighted_terms(rows: list[Any]) -> None:
    rules = Rules()
    _, score, _ = ranked(rows, rules)
    assert (score >= 0.0).all()
    assert (score <= rules.rank_lexical + rules.rank_degree + rules.rank_effective + rules.rank_recency + 1e-12).all()
    parts = ("rank_lexical", "rank_degree", "rank_effective", "rank_recency")
    without: list[dict[str, Any]] = [dict.fromkeys(set(parts) - {part}, 0.0) for part in parts]
    summed = sum(ranked(rows, rules.replace(**changes))[1] for changes in without)
    np.testing.assert_allclose(summed, score, rtol=0, atol=1e-12)


@given(candidates, st.integers(1, 12))
def test_ranking_of_a_row_does_not_depend_on_other_rows(rows: list[Any], limit: int) -> None:
    here, score, age = ranked(rows, Rules())
    best = top_k(np.where(here, score, -np.inf), np.where(here, -age, 7.0), limit=limit)
    for row, mask in enumerate(here):
        of_row = [candidate for candidate in sorted(rows) if candidate[0] == row]
        if of_row:
            match, degree, worth, ages, reference = (np.array(part) for part in list(zip(*of_row, strict=True))[1:])
            alone = rank_score(match, degree.astype(np.float64), worth, ages, Rules(), reference=reference)
            np.testing.assert_array_equal(alone, score[mask])
            first = top_k(alone[None], -ages[None], limit=limit)[0]
            np.testing.assert_array_equal(np.where(first < 0, -1, np.flatnonzero(mask)[first]), best[row])


@given(st.data())
def test_top_k_selection_equals_a_full_sort(data: st.DataObject) -> None:
    shape = (data.draw(st.integers(0, 4)), data.draw(st.integers(0, 12)))
    values = st.lists(st.sampled_from([0.0, 0.2, 0.4, 0.6]), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1])
    score, touched = (np.reshape(data.draw(values), shape) for _ in range(2))
    limit = data.draw(st.integers(1, 8))
    expected = np.full((shape[0], limit), -1)
    order = np.lexsort((-touched, -score), axis=-1)[:, :limit]
    expected[:, : order.shape[1]] = order
    np.testing.assert_array_equal(top_k(score, touched, limit=limit), expected)


def test_rank_prefers_match_degree_trust_and_freshness() -> None:
    same = np.ones(2)
    for name in ("match", "degree", "worth", "age"):
        parts = {"match": same, "degree": same, "worth": same * 0.5, "age": same} | {name: np.array([0.2, 0.9])}
        score = rank_score(parts["match"], parts["degree"], parts["worth"], parts["age"], Rules())
        assert (score[1] > score[0]) == (name != "age"), name
    reference = rank_score(same, same, same, same, Rules(), reference=np.array([True, False]))
    assert reference[0] < reference[1]


def test_empty_list_of_candidates_is_ranked() -> None:
    nothing = np.zeros(0)
    assert rank_score(nothing, nothing, nothing, nothing, Rules()).size == 0
    assert top_k(nothing[None], nothing[None], limit=2).tolist() == [[-1, -1]]
    assert top_k(np.zeros((0, 3)), np.zeros((0, 3)), limit=2).shape == (0, 2)


def columns(rows: list[Any]) -> dict[str, Any]:
    kinds = [np.float64] * 3 + [np.bool_] * 4
    return {
        name: np.array([row[n] for row in rows], dtype=kind) for n, (name, kind) in enumerate(zip(NAMES, kinds, strict=True))
    }


@given(lines)
def test_line_is_marked_for_any_kind_of_doubt(rows: list[Any]) -> None:
    expected = [
        superseded or contradicted or overdue or effective < RULES.challenged_below * stated or currency < RULES.stale_below
        for stated, effective, currency, superseded, contradicted, overdue, _ in rows
    ]
    assert marked(RULES, **columns(rows)).tolist() == expected


@given(lines)
def test_review_rule_marks_only_flagged_lines(rows: list[Any]) -> None:
    assert marked(Rules(expand_when="review"), **columns(rows)).tolist() == [row[-1] for row in rows]
