"""The second form: items with durability, trust and privacy; searched, packed within a budget, held back and let go."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from malsim.base.errors import AddressError, UsageError
from malsim.records.candidates import Scope, find, rank
from malsim.records.database import remove_expired
from malsim.records.fusion import Fusion
from malsim.records.kernel import RecordStore
from malsim.records.lanes import LANES, one_of
from malsim.records.packing import (
    Coverage,
    Decision,
    Pack,
    PackBudget,
    Packer,
    TokenCounter,
    fill,
    greedy,
    quarter_of_letters,
    widen,
)
from malsim.records.record import OverlayItem, canonical, decode_item, encode_item

_SECOND_FORM = "text IS NOT NULL"


class Overlay:
    """Items of the second form in a store of records.

    Parameters
    ----------
    store
        Where they are kept; its clock, embedder and upkeep hold here too.
    fusion, coverage
        The numbers of a search, and when a thin pack is searched for again.
    count, packer
        What counts tokens, and what chooses within a budget.
    """

    def __init__(
        self, store: RecordStore, *, fusion: Fusion | None = None, coverage: Coverage | None = None,
        count: TokenCounter = quarter_of_letters, packer: Packer = greedy,
    ) -> None:  # fmt: skip
        self.store, self.database = store, store.database
        self.fusion, self.coverage = fusion or Fusion(), coverage or Coverage()
        self.count, self.packer = count, packer

    def upsert(self, item: OverlayItem, *, dedupe: bool = False) -> OverlayItem:
        """Store an item. An item of the same id is replaced; under `dedupe` an item of the same hash is merged.

        Neither makes it younger: its life counts from its creation. Returns the stored item.
        """
        now, digest = self.store.clock(), item.hash
        with self.database.change():
            remove_expired(self.database, digest, _SECOND_FORM, now)
            existing = self._existing(item, digest, dedupe=dedupe)
            if existing and item.id:
                stored = replace(item, ts=existing.ts, updated=now)
            elif existing:
                stored = existing.merged(item, now)
            else:
                ts = now if item.ts is None else item.ts
                stored = replace(item, id=item.id or self._new_id(digest), ts=ts, updated=now)
            return self._write(stored, now, **({"dedupe": True} if existing and not item.id else {}))

    def get(self, item_id: str) -> OverlayItem:
        """Return an item by its id; raises `AddressError`."""
        item = self.database.first(decode_item, "id = ? AND text IS NOT NULL", item_id)
        if item is None:
            raise AddressError("no such item", where=self.database.where, given=item_id)
        return item

    def promote(self, item_id: str, lane: str = "semantic") -> OverlayItem:
        """Move an item to another lane; it takes that lane's durability and lifetime."""
        durability, extra = LANES[one_of(lane, tuple(LANES), "lane")], self.get(item_id).extra
        extra = {**extra, "lane": lane} if "lane" in extra else extra
        return self._change(item_id, lane=lane, durability=durability, ttl_s=None, extra=extra)

    def pin(self, item_id: str, *, pinned: bool = True) -> OverlayItem:
        """Boost an item in every search, or end the boost."""
        return self._change(item_id, extra={**self.get(item_id).extra, "pin": pinned})

    def search(self, query: str, *, scope: Scope | None = None, fusion: Fusion | None = None) -> list[Decision]:
        """Return the decisions on the items found for a query, the best first; see `malsim.records.fusion`."""
        fusion = fusion or self.fusion
        return rank(find(self.store, query, scope or Scope(), fusion), fusion, self.store.clock())

    def pack(
        self, query: str, budget: PackBudget, *, scope: Scope | None = None, hard: Mapping[str, Sequence[str]] | None = None
    ) -> Pack:
        """Fill a budget with items and record the reason of each decision. A thin pack is searched again. Journals the pack.

        `hard` holds texts for the slots instructions, safety and reserved, which go first. Raises `UsageError` where they
        alone are over the budget.
        """
        fusion, rounds = self.fusion, 1
        while True:
            decisions = self.search(query, scope=scope, fusion=fusion)
            pack = fill(decisions, budget, hard, count=self.count, packer=self.packer)
            pack = replace(pack, rounds=rounds, mmr=fusion.mmr)
            wider = widen(pack, fusion, self.coverage, max_tokens=budget.max_tokens)
            if wider is None:
                break
            fusion, rounds = wider, rounds + 1
        with self.database.change():
            payload = {
                "query": query, "max_tokens": budget.max_tokens, "tokens": pack.tokens, "rounds": pack.rounds,
                "mmr": pack.mmr, "decisions": [decision.trace for decision in pack.decisions],
            }  # fmt: skip
            self.database.emit("memory.pack.journaled", self.store.clock(), payload)
        return pack

    def hold(self, item: OverlayItem, reason: str) -> str:
        """Put an item into quarantine, hidden from searches; return the id by which it is admitted."""
        if not isinstance(reason, str) or not reason.strip():
            raise UsageError("no reason", where="reason", given=reason, allowed="a text")
        now, held_id = self.store.clock(), item.hash[:16]
        with self.database.change():
            statement = "INSERT OR REPLACE INTO memory_quarantine VALUES (?, ?, ?, ?)"
            self.database.run(statement, held_id, canonical(asdict(item)), reason, now)
            self.database.emit("memory.quarantined", now, {"id": held_id, "hash": item.hash, "reason": reason})
        return held_id

    def on_hold(self) -> list[tuple[str, OverlayItem, str]]:
        """Return the items in quarantine, the oldest first: id, item, reason."""
        query = "SELECT id, item, reason FROM memory_quarantine ORDER BY created, id"
        return self.database.decoded(lambda row: (row["id"], OverlayItem(**json.loads(row["item"])), row["reason"]), query)

    def admit(self, held_id: str, *, dedupe: bool = False) -> OverlayItem:
        """Move an item from quarantine into the memory; raises `AddressError`."""
        items = {name: item for name, item, _ in self.on_hold()}
        if held_id not in items:
            raise AddressError("not in quarantine", where=self.database.where, given=held_id)
        with self.database.change():
            self.database.run("DELETE FROM memory_quarantine WHERE id = ?", held_id)
            self.database.emit("memory.admitted", self.store.clock(), {"id": held_id, "hash": items[held_id].hash})
            return self.upsert(items[held_id], dedupe=dedupe)

    def _existing(self, item: OverlayItem, digest: str, *, dedupe: bool) -> OverlayItem | None:
        if item.id:
            return self.database.first(decode_item, "id = ? AND text IS NOT NULL", item.id)
        return self.database.first(decode_item, "hash = ? AND text IS NOT NULL", digest) if dedupe else None

    def _new_id(self, digest: str) -> str:
        last = self.database.rows("SELECT max(seq) AS seq FROM sqlite_sequence WHERE name = 'memory_records'")
        return f"{digest[:16]}-{(last[0]['seq'] or 0) + 1}"

    def _change(self, item_id: str, **fields: Any) -> OverlayItem:
        now = self.store.clock()
        with self.database.change():
            return self._write(replace(self.get(item_id), updated=now, **fields), now)

    def _write(self, item: OverlayItem, now: int, **flags: bool) -> OverlayItem:
        digest = item.hash
        item = replace(item, extra={**item.extra, "hash": digest})
        blob, hint = self.store.vector(item.text)
        expires = self.store.upkeep.expires(item.ts or 0, item.lane, item.durability, item.ttl_s)
        self.database.insert(
            encode_item(item) | {"hash": digest, "expires": expires, "embed_blob": blob, "embed_hint": hint}
        )
        payload: dict[str, object] = {"id": item.id, "hash": digest, "lane": item.lane, "kind": item.kind}
        self.database.emit("memory.item.upserted", now, payload | flags)
        return item
