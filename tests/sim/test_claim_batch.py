"""Drafts keep their edges, in whatever way they are put together and taken apart."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from malsim.memory.schema import NONE, RELATIONS
from malsim.sim.writers.engine.claim_batch import ClaimBatch
from malsim.sim.writers.engine.claim_context import DraftEdge

if TYPE_CHECKING:
    from hypothesis.strategies import DataObject

COLUMNS = ("t", "who", "turn", "fact", "value", "form")


@st.composite
def drafts(draw: st.DrawFn) -> ClaimBatch:
    """A few claims, told apart by their replication, with edges of which some are said twice."""
    count = draw(st.integers(0, 4))
    targets = st.lists(st.integers(NONE, 2), min_size=count, max_size=count).map(np.array)
    edges = draw(
        st.lists(st.builds(DraftEdge, st.sampled_from(RELATIONS), targets, st.booleans()), max_size=4 if count else 0)
    )
    rep = np.array(draw(st.lists(st.integers(0, 2**40), min_size=count, max_size=count)), dtype=np.int64)
    return ClaimBatch.of(edges, rep=rep, stated=0.5, **dict.fromkeys(COLUMNS, 0))


def claims(held: ClaimBatch) -> list[tuple[int, list[tuple[int, int, bool]]]]:
    """Each claim with its edges, in order."""
    edges = list(zip(held.relation.tolist(), held.target.tolist(), held.mutual.tolist(), strict=True))
    return [
        (rep, [edge for edge, claim in zip(edges, held.claim, strict=True) if claim == row])
        for row, rep in enumerate(held.rep.tolist())
    ]


@given(st.lists(drafts(), max_size=4))
def test_joined_they_stand_one_under_the_other(parts: list[ClaimBatch]) -> None:
    joined = ClaimBatch.joined(parts)
    assert claims(joined) == [claim for part in parts for claim in claims(part)]
    assert (np.diff(joined.claim) >= 0).all()
    for part in fields(ClaimBatch):
        assert getattr(joined, part.name).dtype == getattr(ClaimBatch.none(), part.name).dtype


@given(st.data(), drafts())
def test_rows_bring_their_edges_along(data: DataObject, held: ClaimBatch) -> None:
    rows = data.draw(st.lists(st.integers(0, len(held) - 1), max_size=8) if len(held) else st.just([]))
    assert claims(held.rows(np.array(rows, dtype=np.int64))) == [claims(held)[row] for row in rows]


@given(drafts())
def test_no_edge_is_said_twice(held: ClaimBatch) -> None:
    for _, edges in claims(held):
        assert len({(relation, target) for relation, target, _ in edges}) == len(edges)
        assert all(target != NONE for _, target, _ in edges)
