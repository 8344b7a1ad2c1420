"""The read model of recent records, and its changes as JSON Patches (RFC 6902) for a client that holds the one before.

ARW publishes the model `memory_recent`, `{"items": […]}` with the last updated first, and each change of it as an event
`state.read.model.patch`: the model's id, and a patch. What is private is in nobody's read model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from malsim.base.errors import UsageError
from malsim.records.kernel import RecordStore
from malsim.records.lanes import LANES, one_of
from malsim.records.record import decode_item, decode_record

ID, EVENT = "memory_recent", "state.read.model.patch"
MOST = 100
FIRST = ("id", "lane", "kind", "key", "value", "tags", "score", "prob", "created", "updated")
SECOND = ("id", "lane", "kind", "text", "agent_id", "project_id", "durability", "trust", "privacy", "ts", "updated")


class ReadModel:
    """Records of a store, or of one lane, as of the last `refresh`.

    Raises `UsageError` for an unknown lane, and for a limit below 1.

    >>> from malsim.records import MemoryRecord
    >>> store = RecordStore(clock=lambda: 0)
    >>> model = ReadModel(store)
    >>> kept = store.put(MemoryRecord("semantic", "fact", "release day", "Tuesday"))
    >>> [(one["op"], one["path"]) for one in model.refresh()]
    [('add', '/items/0')]
    >>> model.refresh(), model.document["items"][0]["value"], store.events("state.read.model.patch")[0]["payload"]["id"]
    ([], 'Tuesday', 'memory_recent')
    """

    def __init__(self, store: RecordStore, *, lane: str | None = None, limit: int = MOST) -> None:
        if limit < 1:
            raise UsageError("no room for a record", where="limit", given=limit, allowed="1 or more")
        self.store, self.lane, self.limit = store, lane and one_of(lane, tuple(LANES), "lane"), limit
        self.document: dict[str, list[dict[str, Any]]] = {"items": []}

    def refresh(self) -> list[dict[str, Any]]:
        """Return the patch from the last model to the present store. A patch with operations is logged as an event."""
        now = self.store.clock()
        with self.store.database.change():
            items = self._items(now)
            patch = patch_between(self.document["items"], items)
            if patch:
                self.store.database.emit(EVENT, now, {"id": ID, "patch": patch})
        self.document = {"items": items}
        return patch

    def _items(self, now: int) -> list[dict[str, Any]]:
        query = """SELECT * FROM memory_records WHERE expires > ? AND coalesce(privacy, '') <> 'private'
            AND (? IS NULL OR lane = ?) ORDER BY updated DESC, seq DESC LIMIT ?"""
        return self.store.database.decoded(_entry, query, now, self.lane, self.lane, self.limit)


def patch_between(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the operations that turn `{"items": before}` into `{"items": after}`, matching items by `id`.

    >>> patch_between([{"id": "a", "n": 1}, {"id": "b"}], [{"id": "b"}, {"id": "a", "n": 2}])
    [{'op': 'move', 'from': '/items/1', 'path': '/items/0'}, {'op': 'replace', 'path': '/items/1/n', 'value': 2}]
    """
    remaining, patch = {item["id"] for item in after}, list[dict[str, Any]]()
    items = [dict(item) for item in before]
    for place in reversed(range(len(items))):
        if items[place]["id"] not in remaining:
            del items[place]
            patch.append({"op": "remove", "path": f"/items/{place}"})
    for place, item in enumerate(after):
        at = next((at for at in range(place, len(items)) if items[at]["id"] == item["id"]), None)
        if at is None:
            items.insert(place, dict(item))
            patch.append({"op": "add", "path": f"/items/{place}", "value": dict(item)})
            continue
        if at != place:
            items.insert(place, items.pop(at))
            patch.append({"op": "move", "from": f"/items/{at}", "path": f"/items/{place}"})
        patch += _changes(f"/items/{place}", items[place], item)
    return patch


def _changes(path: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[dict[str, Any]]:
    removals = [{"op": "remove", "path": f"{path}/{name}"} for name in before if name not in after]
    return removals + [
        {"op": "replace" if name in before else "add", "path": f"{path}/{name}", "value": value}
        for name, value in after.items()
        if name not in before or before[name] != value
    ]


def _entry(row: Mapping[str, Any]) -> dict[str, Any]:
    if row["text"] is None:
        record = decode_record(row)
        return {name: getattr(record, name) for name in FIRST} | {"tags": list(record.tags)}
    item = decode_item(row)
    return {name: getattr(item, name) for name in SECOND}
