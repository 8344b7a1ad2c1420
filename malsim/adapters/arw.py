"""Adapter to ARW's records: `records` (first version, hybrid search) and `overlay` (second version, rank fusion).

Both are searched by text, and results about other objects are left out. Neither has beliefs, and no score uses
contradictions. A claim's confidence becomes the utility of a record (`records`) or the trust of an item (`overlay`). A
scope becomes an overlay project. ARW offers neither corrections nor erasure.

>>> from malsim.adapters.contract import Claim, Query
>>> memory = records()
>>> memory.write([Claim(0.0, "ann", "deploy", "green", "deploy is green")], 0.0)
>>> memory.write([Claim(1.0, "bob", "deploy", "red", "deploy is red")], 1.0)
>>> [item["value"] for item in memory.peek(Query("deploy", "what is deploy?"), 1.0, 5)]
['red', 'green']
>>> memory.close()
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from malsim.adapters.contract import Claim, Query
from malsim.records import Fusion, MemoryRecord, Overlay, OverlayItem, RecordStore
from malsim.records.candidates import Scope

EVERYBODY = "bench"  # project id for claims without a scope
DAY_MS = 86_400_000
# day 0 is 2026-01-01 (in ms since 1970), because a store of records cannot hold times before 1970
LONG_AGO = 1_767_225_600_000


class ArwRecords:
    """Memory that stores each claimed value of an object as a record in the lane `semantic`.

    Repeated claims update the record.
    """

    belief = edges = scopes = clocks = False

    def __init__(self) -> None:
        self.now = 0.0
        self.store = RecordStore(clock=lambda: LONG_AGO + round(self.now * DAY_MS))

    def write(self, claims: Sequence[Claim], now: float) -> None:
        for claim in claims:
            self.now = claim.time  # the record gets the claim's date even if it arrives later
            record = MemoryRecord("semantic", "fact", claim.object, claim.value, tags=(claim.writer,), score=claim.stated)
            self.store.put(record)
        self.now = now

    def tick(self, now: float) -> None:
        self.now = now
        self.store.keep_up()

    def peek(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        self.now = now
        hits = self.store.select_hybrid(query.text or query.object, limit=limit)
        return [
            {"id": hit.record.id, "object": hit.record.key, "value": hit.record.value, "rank": hit.score}
            for hit in hits
            if hit.record.key == query.object
        ]

    read = peek  # a read changes nothing, so it is the same as a peek

    def close(self) -> None:
        self.store.close()


class ArwOverlay(ArwRecords):
    """Memory that stores each writer's sentences as overlay items, each distinct sentence once (`dedupe`)."""

    scopes = True

    def __init__(self, fusion: Fusion | None = None) -> None:
        super().__init__()
        self.overlay = Overlay(self.store, fusion=fusion)

    def write(self, claims: Sequence[Claim], now: float) -> None:
        for claim in claims:
            self.now = claim.time
            item = OverlayItem(
                claim.text or f"{claim.object} is {claim.value}", agent_id=claim.writer, privacy="project",
                project_id=claim.scope or EVERYBODY,
                trust=0.5 if claim.stated is None else claim.stated, entities=(claim.object,), extra={"value": claim.value},
            )  # fmt: skip
            self.overlay.upsert(item, dedupe=True)
        self.now = now

    def peek(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        self.now = now
        scope = Scope(project_id=query.scope or EVERYBODY)
        hits = [
            (entry, self.overlay.get(entry.id)) for entry in self.overlay.search(query.text or query.object, scope=scope)
        ]
        return [
            {"id": entry.id, "object": query.object, "value": item.extra["value"], "text": item.text, "rank": entry.score}
            for entry, item in hits
            if item.entities == (query.object,)
        ][:limit]

    read = peek


records, overlay = ArwRecords, ArwOverlay
