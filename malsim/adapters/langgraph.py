"""Adapter to LangGraph stores (`in_memory`, `sqlite`) with objects as keys and scopes as namespaces. The last value wins.

A correction replaces the wrong value with the right value, or deletes the entry if the right value is unknown.
Forgetting deletes the entry. Neither store supports valid times, sharing or a log.
Install: pip install -c constraints.txt -e ".[memories]". Needs no network. Tested with langgraph 1.2.22,
langgraph-checkpoint-sqlite 3.1.2.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from malsim.adapters.contract import Claim, Query

FACTS, EVERYBODY = "facts", "bench"
MOST = 100_000  # limit passed to a search that should return all entries


class LangGraphStore:
    """LangGraph store with one entry per object, without beliefs, edges or times."""

    belief = edges = clocks = False

    def __init__(self, store: Any) -> None:
        self.store = store

    def write(self, claims: Sequence[Claim], _: float) -> None:
        for claim in claims:
            self._put(claim.scope, claim.object, claim.value, text=claim.text, writer=claim.writer, day=claim.time)

    def tick(self, _: float) -> None:
        """Do nothing, because entries stay until they are overwritten."""

    def peek(self, query: Query, _: float, __: int) -> list[dict[str, Any]]:
        entry = self._get(query.scope, query.object)
        item = {"id": query.object, "object": query.object, "rank": 1.0}
        return [item | {"value": entry["value"], "text": entry["text"], "valid_from": entry["day"]}] if entry else []

    read = peek  # a read changes nothing, so it is the same as a peek

    def correct(self, object: str, value: str, instead: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002
        if instead is None:
            self.forget(object, value, now, by, scope)
        elif (entry := self._get(scope, object)) and entry["value"] == value:
            self._put(scope, object, instead, text=f"{object} is {instead}", writer=by, day=now)

    def forget(self, object: str, value: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002, ARG002
        if (entry := self._get(scope, object)) and value in (None, entry["value"]):
            self.store.delete(_namespace(scope), object)

    def texts(self) -> list[str]:
        return [
            text
            for entry in self.store.search((FACTS,), limit=MOST)
            for text in (entry.key, *map(str, entry.value.values()))
        ]

    def _put(self, scope: str, key: str, value: str, **more: Any) -> None:
        self.store.put(_namespace(scope), key, {"value": value, **more})

    def _get(self, scope: str, key: str) -> dict[str, Any] | None:
        entry = self.store.get(_namespace(scope), key)
        return dict(entry.value) if entry else None


def _namespace(scope: str) -> tuple[str, str]:
    return (FACTS, scope or EVERYBODY)


def in_memory() -> LangGraphStore:
    from langgraph.store.memory import InMemoryStore

    return LangGraphStore(InMemoryStore())


def sqlite() -> LangGraphStore:
    """Return a memory based on `SqliteStore`, with an in-memory database."""
    from langgraph.store.sqlite import SqliteStore

    store = SqliteStore(sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None))
    store.setup()
    return LangGraphStore(store)
