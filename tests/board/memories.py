"""A memory that tests bring to the board."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from malsim.adapters import Claim, Query


class Votes:
    """Counts who says what."""

    def __init__(self) -> None:
        self.voices: dict[str, dict[str, set[str]]] = {}

    def write(self, claims: Sequence[Claim], now: float) -> None:  # noqa: ARG002  # it knows no time
        for claim in claims:
            self.voices.setdefault(claim.object, {}).setdefault(claim.value, set()).add(claim.writer)

    def tick(self, now: float) -> None:
        pass

    def read(self, query: Query, now: float, limit: int) -> Sequence[Mapping[str, Any]]:
        return self.peek(query, now, limit)

    def peek(self, query: Query, now: float, limit: int) -> Sequence[Mapping[str, Any]]:  # noqa: ARG002  # it knows no time
        values = self.voices.get(query.object, {})
        every = sum(map(len, values.values()))
        items: list[dict[str, Any]] = [
            {"id": value, "object": query.object, "value": value, "rank": len(who), "belief": len(who) / every}
            for value, who in values.items()
        ]
        return sorted(items, key=lambda item: -item["rank"])[:limit]
