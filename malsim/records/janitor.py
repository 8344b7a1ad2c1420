"""Remove what has expired and what overflows its lane, each with an event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from malsim.records.database import Database
from malsim.records.lanes import Upkeep, due

LAST = "last_pass"
_HELD = "SELECT id, lane, kind, hash, expires, updated FROM memory_records"


def one_pass(database: Database, now: int, upkeep: Upkeep) -> list[dict[str, Any]]:
    """Remove expired and surplus records of both forms in one pass; return the removals in the form of their events."""
    with database.change():
        rows = database.rows(f"{_HELD} ORDER BY seq")
        lanes, expires, updated = ([row[name] for row in rows] for name in ("lane", "expires", "updated"))
        return [_remove(database, rows[row], reason, now) for row, reason in due(lanes, expires, updated, now, upkeep)]


def due_passes(database: Database, now: int, upkeep: Upkeep) -> list[dict[str, Any]]:
    """Run the passes that are due by now, one every `every_s` seconds. The first call runs one."""
    every, removals = round(1000.0 * upkeep.every_s), list[dict[str, Any]]()
    with database.change():
        last = database.meta(LAST)
        passes = 1 if last is None else (now - last) // every
        for _ in range(passes):
            latest = one_pass(database, now, upkeep)
            removals += latest
            if len(latest) < upkeep.most:
                break
        if passes > 0:
            at = now if last is None else last + passes * every
            database.run("INSERT OR REPLACE INTO memory_meta VALUES (?, ?)", LAST, at)
    return removals


def remove_expired(database: Database, digest: str, form: str, now: int) -> None:
    """Remove what is to be written anew and whose life has ended, before the next pass would."""
    for row in database.rows(f"{_HELD} WHERE hash = ? AND {form} AND expires <= ?", digest, now):
        _remove(database, row, "ttl", now)


def _remove(database: Database, row: Mapping[str, Any], reason: str, now: int) -> dict[str, Any]:
    payload = {name: row[name] for name in ("id", "lane", "kind", "hash")} | {"reason": reason}
    database.remove(row["id"])
    database.emit("memory.item.expired", now, payload)
    return payload
