"""graphiti-core's own edge resolution, with the bench's verdict where it would ask a language model.

A claim is a fact between its object and its value. Equal object and value: a duplicate; equal object, other value: a
contradiction. Left out: extraction, search, the database. Install: pip install -c constraints.txt -e ".[memories]".
Version run: graphiti-core 0.31.1. Its telemetry is off.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from malsim.adapters.contract import Claim, Query

__all__ = ["FactEdges", "edge_resolution"]

START = datetime(2026, 1, 1, tzinfo=UTC)


class FactEdges:
    """Facts by object; one that still holds has belief 1, one that has ended 0."""

    edges = False

    def __init__(self) -> None:
        os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"
        from graphiti_core.edges import EntityEdge
        from graphiti_core.nodes import EpisodeType, EpisodicNode
        from graphiti_core.utils.maintenance.edge_operations import resolve_extracted_edge

        self._edge, self._episode, self._text = EntityEdge, EpisodicNode, EpisodeType.text
        self._resolve, self._loop = resolve_extracted_edge, asyncio.new_event_loop()
        self._verdict: dict[str, list[int]] = {}
        self._facts: dict[str, list[Any]] = {}

    async def generate_response(self, *_: Any, **__: Any) -> dict[str, Any]:
        """What the language model says: the verdict on the fact that is being resolved."""
        return self._verdict

    def write(self, claims: Sequence[Claim], _: float) -> None:
        """Resolve each claim against the facts about its object."""
        for claim in claims:
            facts, at = self._facts.setdefault(claim.object, []), START + timedelta(days=claim.time)
            same = [fact for fact in facts if fact.target_node_uuid == claim.value]
            rivals = [fact for fact in facts if fact.target_node_uuid != claim.value]
            contradicted = list(range(len(same), len(same) + len(rivals)))
            self._verdict = {"duplicate_facts": [0] if same else [], "contradicted_facts": contradicted}
            common: dict[str, Any] = {"group_id": "bench", "created_at": at, "valid_at": at}
            ends = {"source_node_uuid": claim.object, "target_node_uuid": claim.value}
            fact = self._edge(name="IS", fact=claim.text, **ends, **common)
            episode = self._episode(name="claim", source=self._text, source_description="", content=claim.text, **common)
            fact, _ended, _same = self._loop.run_until_complete(self._resolve(self, fact, same, rivals, episode))
            if not any(fact is other for other in facts):
                facts.append(fact)

    def tick(self, _: float) -> None:
        """Nothing: a fact ends when another is written."""

    def peek(self, query: Query, _: float, __: int) -> list[dict[str, Any]]:
        """Every fact about the object."""
        facts = [(fact, float(fact.invalid_at is None)) for fact in self._facts.get(query.object, [])]
        return [
            {"id": fact.uuid, "object": query.object, "value": fact.target_node_uuid, "text": fact.fact, "rank": holds,
             "belief": holds, "status": "current" if holds else "former",
             "valid_from": (fact.valid_at - START) / timedelta(days=1)}
            for fact, holds in facts
        ]  # fmt: skip

    read = peek

    def close(self) -> None:
        """Close the event loop."""
        self._loop.close()


edge_resolution = FactEdges
