"""Overlay items with durability, trust and privacy, which can be searched, packed within a budget, or quarantined."""

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
    """Collection of overlay items in a store of records.

    Parameters
    ----------
    store
        Store of records. Its clock, embedder and upkeep also apply to items.
    fusion, coverage
        Search settings, and the rule for repeating a search.
    count, packer
        Token counter, and the function that selects items within a budget.
    """

    def __init__(
        self, store: RecordStore, *, fusion: Fusion | None = None, coverage: Coverage | None = None,
        count: TokenCounter = quarter_of_letters, packer: Packer = greedy,
    ) -> None:  # fmt: skip
        self.store, self.database = store, store.database
        self.fusion, self.coverage = fusion or Fusion(), coverage or Coverage()
        self.count, self.packer = count, packer

    def upsert(self, item: OverlayItem, *, dedupe: bool = False) -> OverlayItem:
        """Store an item and return it.

        An existing item with the same id is replaced; if `dedupe` is true, one with the same hash is merged. The
        lifetime still counts from the first creation.
        """
        now, digest = self.store.clock(), item.hash
        with self.database.change():
            remove_expired(self.database, digest, _SECOND_FORM, now)
            key, value = ("id", item.id) if item.id else ("hash", digest)
            identified = item.id or dedupe
            existing = self.database.first(decode_item, f"{key} = ? AND {_SECOND_FORM}", value) if identified else None
            if existing and item.id:
                stored = replace(item, ts=existing.ts, updated=now)
            elif existing:
                stored = existing.merged(item, now)
            else:
                last = self.database.rows("SELECT max(seq) AS seq FROM sqlite_sequence WHERE name = 'memory_records'")
                new_id, ts = f"{digest[:16]}-{(last[0]['seq'] or 0) + 1}", now if item.ts is None else item.ts
                stored = replace(item, id=item.id or new_id, ts=ts, updated=now)
            return self._write(stored, now, **({"dedupe": True} if existing and not item.id else {}))

    def get(self, item_id: str) -> OverlayItem:
        """Return the item with the given id. Raises `AddressError` if there is none."""
        item = self.database.first(decode_item, "id = ? AND text IS NOT NULL", item_id)
        if item is None:
            raise AddressError("no such item", where=self.database.where, given=item_id)
        return item

    def promote(self, item_id: str, lane: str = "semantic") -> OverlayItem:
        """Move an item to another lane and give the item that lane's durability and lifetime."""
        durability, extra = LANES[one_of(lane, tuple(LANES), "lane")], self.get(item_id).extra
        extra = {**extra, "lane": lane} if "lane" in extra else extra
        return self._change(item_id, lane=lane, durability=durability, ttl_s=None, extra=extra)

    def pin(self, item_id: str, *, pinned: bool = True) -> OverlayItem:
        """Pin an item so that every search boosts it, or unpin it."""
        return self._change(item_id, extra={**self.get(item_id).extra, "pin": pinned})

    def search(self, query: str, *, scope: Scope | None = None, fusion: Fusion | None = None) -> list[Decision]:
        """Return a decision for each item found for a query, best first. See `malsim.records.fusion`."""
        fusion = fusion or self.fusion
        return rank(find(self.store, query, scope or Scope(), fusion), fusion, self.store.clock())

    def pack(
        self, query: str, budget: PackBudget, *, scope: Scope | None = None, hard: Mapping[str, Sequence[str]] | None = None
    ) -> Pack:
        """Fill a token budget with items for a query, and log the pack with the reason for each decision.

        If the pack is thin, the search is repeated with wider limits. `hard` maps the slots instructions, safety and
        reserved to texts, which go first. Raises `UsageError` if these texts alone exceed the budget.
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
        """Quarantine an item, which hides it from searches, and return the id to pass to `admit`."""
        if not isinstance(reason, str) or not reason.strip():
            raise UsageError("not a valid reason", where="reason", given=reason, allowed="a non-empty string")
        now, held_id = self.store.clock(), item.hash[:16]
        with self.database.change():
            statement = "INSERT OR REPLACE INTO memory_quarantine VALUES (?, ?, ?, ?)"
            self.database.run(statement, held_id, canonical(asdict(item)), reason, now)
            self.database.emit("memory.quarantined", now, {"id": held_id, "hash": item.hash, "reason": reason})
        return held_id

    def on_hold(self) -> list[tuple[str, OverlayItem, str]]:
        """Return (id, item, reason) for each item in quarantine, oldest first."""
        query = "SELECT id, item, reason FROM memory_quarantine ORDER BY created, id"
        return self.database.decoded(lambda row: (row["id"], OverlayItem(**json.loads(row["item"])), row["reason"]), query)

    def admit(self, held_id: str, *, dedupe: bool = False) -> OverlayItem:
        """Move an item from quarantine into the memory. Raises `AddressError` if the item is not in quarantine."""
        items = {name: item for name, item, _ in self.on_hold()}
        if held_id not in items:
            raise AddressError("no such item in quarantine", where=self.database.where, given=held_id)
        with self.database.change():
            self.database.run("DELETE FROM memory_quarantine WHERE id = ?", held_id)
            self.database.emit("memory.admitted", self.store.clock(), {"id": held_id, "hash": items[held_id].hash})
            return self.upsert(items[held_id], dedupe=dedupe)

    def _change(self, item_id: str, **fields: Any) -> OverlayItem:
        now = self.store.clock()
        with self.database.change():
            return self._write(replace(self.get(item_id), updated=now, **fields), now)

    def _write(self, item: OverlayItem, now: int, **flags: bool) -> OverlayItem:
        digest = item.hash
        item = replace(item, extra={**item.extra, "hash": digest})
        blob, hint = self.store.vector(item.text)
        expires = self.store.upkeep.expires(item.ts or 0, item.lane, item.durability, item.ttl_s)
        derived = {"hash": digest, "expires": expires, "embed_blob": blob, "embed_hint": hint}
        self.database.insert(encode_item(item) | derived)
        payload: dict[str, object] = {"id": item.id, "hash": digest, "lane": item.lane, "kind": item.kind}
        self.database.emit("memory.item.upserted", now, payload | flags)
        return item
