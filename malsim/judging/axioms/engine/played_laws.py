"""Memories run by an item-based law or by the graph's law, with the same methods as a user's memory."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.adapters.checked_memory import MANY
from malsim.judging.axioms.engine.events import OBJECTS, VALUES, WRITERS
from malsim.laws.engine.graph_plant import Graph
from malsim.laws.truth.believed_graph import BelievedGraph
from malsim.memory.gate.claims import as_claims
from malsim.memory.port import Claims, Vocabulary, view_now
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from malsim.adapters import Claim, Item, Query
    from malsim.memory import Rules
    from malsim.memory.graph.arrays import Ints
    from malsim.memory.port import Plant, View

VOCABULARY = Vocabulary(WRITERS, OBJECTS, [VALUES] * len(OBJECTS))


class LawMemory:
    """Memory run by an item-based law, with one replication and the names of a vocabulary."""

    def __init__(self, plant: Plant[Any], vocabulary: Vocabulary | None = None) -> None:
        self._plant, self._words, self._sequence = plant, vocabulary or VOCABULARY, 0
        self._state = plant.init([0], self._words)

    def fork(self) -> Self:
        return copy(self)  # a shallow copy is enough because states are replaced, never modified

    def write(self, claims: Sequence[Claim], now: float) -> None:  # the law uses each claim's own time instead of `now`
        self._state, _ = self._plant.admit(self._state, self._batch(claims))

    def _batch(self, claims: Sequence[Claim]) -> Claims:
        words = self._words
        abouts = [words.objects.index(claim.object) for claim in claims]
        columns = {
            "rep": [0] * len(claims),
            "writer": [words.writers.index(claim.writer) for claim in claims],
            "sequence": [self._sequence + index for index in range(len(claims))],
            "object": abouts,
            "value": [words.values[about].index(claim.value) for about, claim in zip(abouts, claims, strict=True)],
        }
        self._sequence += len(claims)
        indexes: dict[str, Any] = {name: np.array(numbers, dtype=np.int64) for name, numbers in columns.items()}
        stated = np.array([np.nan if claim.stated is None else claim.stated for claim in claims], dtype=np.float64)
        return Claims(**indexes, t=np.array([claim.time for claim in claims], dtype=np.float64), stated=stated)

    def tick(self, now: float) -> None:
        self._state = self._plant.tick(self._state, now)

    def read(self, query: Query, now: float) -> None:
        """Read an object, which counts as a use, without returning its items."""
        index = np.array([self._words.objects.index(query.object)])
        self._state = self._plant.read(self._state, np.zeros(1, dtype=np.int64), index, self._opened(query), now)

    def _opened(self, query: Query) -> Ints:  # under a law, a read opens no particular item
        return np.array([NONE])

    def peek(self, query: Query, now: float, limit: int = MANY) -> list[Item]:
        """Return up to `limit` items about an object, best first. Items with a belief of 0 have the status "former"."""
        view, about = self._view(now), self._words.objects.index(query.object)
        rows = np.flatnonzero(view.active & (view.object == about))
        rank, belief, values = view.rank, view.belief, self._words.values[about]
        rows = rows[np.argsort(-rank[rows], kind="stable")]
        return [
            {
                "id": row, "object": query.object, "value": values[view.value[row]], "rank": float(rank[row]),
                "belief": None if belief is None else float(belief[row]),
                "status": "former" if belief is not None and belief[row] == 0.0 else "current",
            }
            for row in rows[:limit].tolist()
        ]  # fmt: skip

    def _view(self, now: float) -> View:
        return view_now(self._plant, self._state, now)

    def close(self) -> None: ...


class GraphMemory(LawMemory):
    """Memory run by the graph's law under given rules.

    An edge targets every active claim whose text equals the edge's target. If `verified` is true, claims are externally
    verified and contradictions are mutual.
    """

    def __init__(self, rules: Rules, vocabulary: Vocabulary | None = None, *, verified: bool = True) -> None:
        believed = BelievedGraph if rules.effective == "records" else Graph
        super().__init__(believed(rules=rules), vocabulary)
        self._verified = verified

    def write(self, claims: Sequence[Claim], now: float) -> None:  # the gate uses each claim's own time instead of `now`
        if not claims:
            return
        batch = self._batch(claims)
        numbers = zip(batch.sequence.tolist(), batch.value.tolist(), strict=True)
        rows = [self._row(claim, *indexes) for claim, indexes in zip(claims, numbers, strict=True)]
        self._state, _ = self._plant.admit(self._state, replace(batch, words=lambda: as_claims(rows)))

    def _row(self, claim: Claim, sequence: int, value: int) -> dict[str, Any]:
        cells, active = self._state.memory.cells, self._state.memory.is_active
        titles = list(zip(cells["title"].to_list(), cells["handle"].to_list(), active.tolist(), strict=True))
        edges = [
            {"relation": edge.relation, "target": handle, "mutual": self._verified and edge.relation == "contradicts"}
            for edge in claim.edges
            for title, handle, here in titles
            if here and title == edge.target
        ]
        return {
            "t": claim.time, "writer": claim.writer, "sequence": sequence, "kind": "obs", "object": claim.object,
            "title": claim.text, "body": f"by {claim.writer}, {sequence}", "confidence": claim.stated, "edges": edges,
            "value": float(value), "verification": "external" if self._verified else "unverified",
        }  # fmt: skip

    def _view(self, now: float) -> View:
        """Return the view after the last tick, because axioms test the effect of ticks on claims."""
        return self._plant.view(self._state, now)

    def _opened(self, query: Query) -> Ints:
        view, about = self._view(0.0), self._words.objects.index(query.object)
        rows = np.flatnonzero(view.active & (view.object == about))
        return rows[np.argmax(view.rank[rows])][None] if rows.size else rows
