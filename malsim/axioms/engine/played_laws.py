"""Laws of items and the graph's law, as memories that events are played to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.axioms.engine.events import OBJECTS, VALUES, WRITERS
from malsim.memory import Memory, Rules, admit, tick
from malsim.memory.port import Claims, Vocabulary
from malsim.memory.push.expand import expand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.adapters import Claim, Item, Query
    from malsim.memory.port import Plant

__all__ = ["GraphMemory", "LawMemory"]

VOCABULARY = Vocabulary(WRITERS, OBJECTS, [VALUES] * len(OBJECTS))


class LawMemory:
    """A law of items behind the four calls, one replication."""

    def __init__(self, plant: Plant[Any]) -> None:
        self._plant, self._state, self._sequence = plant, plant.init([0], VOCABULARY), 0

    def write(self, claims: Sequence[Claim], now: float) -> None:  # noqa: ARG002  # a law goes by a claim's own time
        """Hand claims over in their order."""
        columns = {
            "rep": [0] * len(claims),
            "writer": [WRITERS.index(claim.writer) for claim in claims],
            "sequence": [self._sequence + place for place in range(len(claims))],
            "object": [OBJECTS.index(claim.object) for claim in claims],
            "value": [VALUES.index(claim.value) for claim in claims],
        }
        self._sequence += len(claims)
        places: dict[str, Any] = {name: np.array(numbers, dtype=np.int64) for name, numbers in columns.items()}
        stated = np.array([np.nan if claim.stated is None else claim.stated for claim in claims], dtype=np.float64)
        batch = Claims(**places, t=np.array([claim.time for claim in claims], dtype=np.float64), stated=stated)
        self._state, _ = self._plant.admit(self._state, batch)

    def tick(self, now: float) -> None:
        """Sweep."""
        self._state = self._plant.tick(self._state, now)

    def read(self, query: Query, now: float) -> None:
        """Use what is known about an object; what is shown is for `peek` to say."""
        place = np.array([OBJECTS.index(query.object)])
        self._state = self._plant.read(self._state, np.zeros(1, dtype=np.int64), place, np.array([-1]), now)

    def peek(self, query: Query, now: float) -> list[Item]:
        """The items about an object."""
        view = self._plant.view(self._state, now)
        rows = np.flatnonzero(view.active & (view.object == OBJECTS.index(query.object)))
        rank, belief = view.rank, view.belief
        return [
            {
                "id": row, "object": query.object, "value": VALUES[view.value[row]], "rank": float(rank[row]),
                "belief": None if belief is None else float(belief[row]),
            }
            for row in rows.tolist()
        ]  # fmt: skip

    def close(self) -> None:
        """Nothing to let go of."""


class GraphMemory:
    """The graph of claims under some rules, behind the four calls; an edge names the claim that it is about by its text."""

    def __init__(self, rules: Rules) -> None:
        self._rules, self._memory, self._sequence = rules, Memory.empty(), 0

    def write(self, claims: Sequence[Claim], now: float) -> None:  # noqa: ARG002  # the gate goes by a claim's own time
        """Take claims through the gate."""
        rows = [self._row(claim, self._sequence + place) for place, claim in enumerate(claims)]
        self._sequence += len(claims)
        if rows:
            self._memory = admit(self._memory, rows, self._rules)[0]

    def _row(self, claim: Claim, sequence: int) -> dict[str, Any]:
        handle = dict(self._memory.cells.select("title", "handle").rows())
        edges = [{"relation": edge.relation, "target": handle[edge.target], "mutual": edge.relation == "contradicts"}
                 for edge in claim.edges if edge.target in handle]  # fmt: skip
        return {
            "t": claim.time, "writer": claim.writer, "sequence": sequence, "kind": "obs", "object": claim.object,
            "title": claim.text, "body": f"by {claim.writer}, {sequence}", "confidence": claim.stated, "edges": edges,
            "value": float(VALUES.index(claim.value)), "verification": "external",
        }  # fmt: skip

    def tick(self, now: float) -> None:
        """Tick."""
        self._memory = tick(self._memory, now, self._rules)

    def read(self, query: Query, now: float) -> None:
        """Expand the best cell about an object."""
        cells = self._about(query).sort("effective", descending=True, maintain_order=True)
        if cells.height:
            self._memory = expand(self._memory, cells["handle"][0], now=now, rules=self._rules).memory

    def peek(self, query: Query, now: float) -> list[Item]:  # noqa: ARG002  # a reader sees the last tick's numbers
        """The active cells about an object."""
        return [
            {
                "id": handle, "object": query.object, "value": VALUES[int(value)], "rank": effective, "belief": effective,
            }
            for handle, value, effective in self._about(query).select("handle", "value", "effective").rows()
        ]  # fmt: skip

    def _about(self, query: Query) -> pl.DataFrame:
        return self._memory.cells.filter((pl.col("object") == query.object) & (pl.col("status") == "active"))

    def close(self) -> None:
        """Nothing to let go of."""
