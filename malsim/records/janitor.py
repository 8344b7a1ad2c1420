"""Remove what has expired and what overflows its lane, each with an event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from malsim.records.lanes import due

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.records.kernel import RecordStore

__all__ = ["keep_up", "remove_expired", "sweep"]

LAST = "last_pass"
_HELD = "SELECT id, lane, kind, hash, expires, updated FROM memory_records"


def sweep(store: RecordStore) -> list[dict[str, Any]]:
    """One pass over records of both forms; returns what went, as its events say."""
    now = store.clock()
    with store.database.change():
        rows = store.database.rows(f"{_HELD} ORDER BY seq")
        lanes, expires, updated = ([row[name] for row in rows] for name in ("lane", "expires", "updated"))
        found = due(lanes, expires, updated, now, store.upkeep)
        return [_remove(store, rows[row], reason, now) for row, reason in found]


def keep_up(store: RecordStore) -> list[dict[str, Any]]:
    """The passes that a janitor would have made by now, one every `every_s` seconds; the first call makes one.

    So a clock that is read once a day removes as much as one that is read every minute.
    """
    now, every, gone = store.clock(), round(1000.0 * store.upkeep.every_s), list[dict[str, Any]]()
    with store.database.change():
        last = store.database.meta(LAST)
        passes = 1 if last is None else (now - last) // every
        for _ in range(passes):
            found = sweep(store)
            gone += found
            if len(found) < store.upkeep.most:
                break
        if passes > 0:
            at = now if last is None else last + passes * every
            store.database.run("INSERT OR REPLACE INTO memory_meta VALUES (?, ?)", LAST, at)
    return gone


def remove_expired(store: RecordStore, digest: str, form: str, now: int) -> None:
    """Remove what is to be written anew and whose life has ended, before the next pass would."""
    for row in store.database.rows(
        f"{_HELD} WHERE hash = ? AND {form} AND expires <= ?", digest, now
    ):  # the form is our own
        _remove(store, row, "ttl", now)


def _remove(store: RecordStore, row: Mapping[str, Any], reason: str, now: int) -> dict[str, Any]:
    payload = {name: row[name] for name in ("id", "lane", "kind", "hash")} | {"reason": reason}
    store.database.remove(row["id"])
    store.database.emit("memory.item.expired", now, payload)
    return payload
