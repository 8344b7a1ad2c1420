"""LangGraph's stores: `in_memory` and `sqlite`; an object is a key, and what is put last is what is got.

Install: pip install -c constraints.txt -e ".[memories]". Needs no network. Versions run: langgraph 1.2.22,
langgraph-checkpoint-sqlite 3.1.2.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from malsim.adapters.contract import Claim, Query

__all__ = ["LangGraphStore", "in_memory", "sqlite"]

FACTS = ("facts",)


class LangGraphStore:
    """A store with a key an object: it has neither belief nor edges, and no sense of time."""

    belief = edges = False

    def __init__(self, store: Any) -> None:
        self.store = store

    def write(self, claims: Sequence[Claim], _: float) -> None:
        """Put each claim."""
        for claim in claims:
            self.store.put(
                FACTS, claim.object, {"value": claim.value, "text": claim.text, "writer": claim.writer, "day": claim.time}
            )

    def tick(self, _: float) -> None:
        """Nothing: an entry stays until it is written over."""

    def peek(self, query: Query, _: float, __: int) -> list[dict[str, Any]]:
        """Get by key."""
        entry = self.store.get(FACTS, query.object)
        item = {"id": query.object, "object": query.object, "rank": 1.0}
        if entry is None:
            return []
        return [item | {"value": entry.value["value"], "text": entry.value["text"], "valid_from": entry.value["day"]}]

    read = peek  # getting changes nothing


def in_memory() -> LangGraphStore:
    """InMemoryStore."""
    from langgraph.store.memory import InMemoryStore

    return LangGraphStore(InMemoryStore())


def sqlite() -> LangGraphStore:
    """SqliteStore on a database in memory."""
    from langgraph.store.sqlite import SqliteStore

    store = SqliteStore(sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None))
    store.setup()
    return LangGraphStore(store)
