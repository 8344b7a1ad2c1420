"""Which lines are marked: the published rule line by line."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from malsim.memory import Rules
from malsim.memory.push.ranking import marked

RULES = Rules()
shares = st.floats(0.0, 1.0)
lines = st.lists(st.tuples(shares, shares, shares, *[st.booleans()] * 4), max_size=8)
NAMES = ("stated", "effective", "currency", "superseded", "contradicted", "overdue", "requires_review")


def columns(rows: list[Any]) -> dict[str, Any]:
    kinds = [np.float64] * 3 + [np.bool_] * 4
    return {
        name: np.array([row[n] for row in rows], dtype=kind) for n, (name, kind) in enumerate(zip(NAMES, kinds, strict=True))
    }


@given(lines)
def test_a_line_is_marked_for_any_one_doubt(rows: list[Any]) -> None:
    expected = [
        superseded or contradicted or overdue or effective < RULES.challenged_below * stated or currency < RULES.stale_below
        for stated, effective, currency, superseded, contradicted, overdue, _ in rows
    ]
    assert marked(RULES, **columns(rows)).tolist() == expected


@given(lines)
def test_under_review_a_line_is_marked_where_it_is_flagged(rows: list[Any]) -> None:
    assert marked(Rules(expand_when="review"), **columns(rows)).tolist() == [row[-1] for row in rows]
