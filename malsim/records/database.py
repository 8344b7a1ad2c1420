"""SQLite database of records: its tables, its transactions, and the janitor passes that remove old records."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from malsim.base.errors import MalsimError, StoreError
from malsim.base.files.sqlite_file import OPENING, FileConnection, check_header, make_tables, refusing_file, transaction
from malsim.records.lanes import Upkeep, due
from malsim.records.record import canonical

Decoded = TypeVar("Decoded")
APPLICATION = 0x61727772  # "arwr" in ASCII, the application id in the SQLite header
VERSION = 1
IN_MEMORY = ":memory:"
COLUMNS = {
    "id": "TEXT NOT NULL UNIQUE", "lane": "TEXT NOT NULL", "kind": "TEXT NOT NULL", "key": "TEXT", "value": "TEXT NOT NULL",
    "tags": "TEXT NOT NULL", "hash": "TEXT NOT NULL", "embed": "TEXT", "embed_blob": "BLOB", "embed_hint": "TEXT",
    "score": "REAL", "prob": "REAL", "agent_id": "TEXT", "project_id": "TEXT", "persona_id": "TEXT", "text": "TEXT",
    "durability": "TEXT NOT NULL", "trust": "REAL", "privacy": "TEXT", "ttl_s": "REAL", "keywords": "TEXT",
    "entities": "TEXT", "source": "TEXT", "links": "TEXT", "extra": "TEXT", "created": "INTEGER NOT NULL",
    "updated": "INTEGER NOT NULL", "expires": "INTEGER NOT NULL",
}  # fmt: skip
"""Columns of a record; `text` is null in the first form."""
_WORDS = "coalesce({0}.text, {0}.value), {0}.tags || coalesce({0}.keywords, '') || coalesce({0}.entities, '')"
_ADD = f"INSERT INTO memory_fts (rowid, key, body, tags) VALUES (new.seq, new.key, {_WORDS.format('new')})"
_DROP = "DELETE FROM memory_fts WHERE rowid = old.seq"
STATEMENTS = (
    "CREATE TABLE memory_records (seq INTEGER PRIMARY KEY AUTOINCREMENT, "
    + ", ".join(f'"{name}" {kind}' for name, kind in COLUMNS.items())
    + ")",
    "CREATE UNIQUE INDEX record_by_hash ON memory_records (hash) WHERE text IS NULL",
    "CREATE INDEX record_by_updated ON memory_records (updated)",
    "CREATE INDEX record_by_lane ON memory_records (lane, updated)",
    """CREATE TABLE memory_links (src_id TEXT NOT NULL, dst_id TEXT NOT NULL, rel TEXT NOT NULL, weight REAL NOT NULL,
        created INTEGER NOT NULL, updated INTEGER NOT NULL, UNIQUE (src_id, dst_id, rel))""",
    """CREATE TABLE memory_quarantine
        (id TEXT PRIMARY KEY, item TEXT NOT NULL, reason TEXT NOT NULL, created INTEGER NOT NULL)""",
    "CREATE TABLE memory_events (seq INTEGER PRIMARY KEY, ts INTEGER NOT NULL, name TEXT NOT NULL, payload TEXT NOT NULL)",
    "CREATE TABLE memory_meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID",
    "CREATE VIRTUAL TABLE memory_fts USING fts5 (key, body, tags, tokenize='unicode61')",
    f"CREATE TRIGGER words_come AFTER INSERT ON memory_records BEGIN {_ADD}; END",
    f"CREATE TRIGGER words_go AFTER DELETE ON memory_records BEGIN {_DROP}; END",
    f"""CREATE TRIGGER words_change AFTER UPDATE OF key, value, text, tags, keywords, entities ON memory_records
        BEGIN {_DROP}; {_ADD}; END""",
)


class Database:
    """Connection to a records database, for use by one thread at a time.

    Raises `StoreError` for a file of another kind or a newer version, and for a truncated, damaged or busy file. The
    file then stays unchanged.
    """

    def __init__(self, path: str | Path, wait: float = 5.0) -> None:
        self.where = str(path)
        self._depth = 0
        on_disk = self.where != IN_MEMORY
        with OPENING:  # a second opening by this process would drop the file's locks
            if on_disk:
                check_header(Path(self.where), APPLICATION, VERSION, what="database of records")
            with refusing_file(self.where):
                self._connection = sqlite3.connect(
                    self.where, isolation_level=None, timeout=wait, check_same_thread=False, factory=FileConnection
                )
                if on_disk:
                    self._connection.hold(Path(self.where), APPLICATION)
        with refusing_file(self.where):
            self._connection.row_factory = sqlite3.Row
            kind: dict[str, Any] = {"application": APPLICATION, "version": VERSION, "table": "memory_records"}
            try:
                make_tables(self._connection, STATEMENTS, **kind, log=on_disk)
            except BaseException:
                self._connection.close()
                raise

    @contextmanager
    def change(self) -> Iterator[None]:
        """Run the block as one transaction. Blocks can be nested."""
        if self._depth:
            yield
            return
        with refusing_file(self.where), transaction(self._connection):
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1

    def rows(self, query: str, *values: object) -> list[dict[str, Any]]:
        return self.decoded(dict, query, *values)

    def decoded(self, decode: Callable[[Any], Decoded], query: str, *values: object) -> list[Decoded]:
        """Run a query and return its decoded rows. Raises `StoreError` for a row that cannot be decoded."""
        with refusing_file(self.where):
            rows = self._connection.execute(query, values).fetchall()
        try:
            return [decode(row) for row in rows]
        except (MalsimError, ArithmeticError, LookupError, TypeError, ValueError) as problem:
            raise StoreError("damaged: a record is invalid", where=self.where, hint="restore a backup") from problem

    def first(self, decode: Callable[[Any], Decoded], condition: str, *values: object) -> Decoded | None:
        """Return the first record that satisfies an SQL condition, decoded. Return None if there is none."""
        query = f"SELECT * FROM memory_records WHERE {condition} ORDER BY seq LIMIT 1"
        return next(iter(self.decoded(decode, query, *values)), None)

    def run(self, statement: str, *values: object) -> int:
        """Run one statement in the current transaction and return the number of affected rows."""
        return self._connection.execute(statement, values).rowcount

    def insert(self, row: Mapping[str, object]) -> None:
        """Insert a row into `memory_records`, replacing an existing row with the same id."""
        names = list(row)
        assignments = ", ".join(f'"{name}" = excluded."{name}"' for name in names if name != "id")
        columns, marks = ", ".join(f'"{name}"' for name in names), ", ".join("?" * len(names))
        self.run(
            f"INSERT INTO memory_records ({columns}) VALUES ({marks}) ON CONFLICT (id) DO UPDATE SET {assignments}",
            *row.values(),
        )

    def remove(self, record_id: str) -> None:
        self.run("DELETE FROM memory_records WHERE id = ?", record_id)
        self.run("DELETE FROM memory_links WHERE src_id = ? OR dst_id = ?", record_id, record_id)

    def emit(self, name: str, now: int, payload: Mapping[str, object]) -> None:
        """Append an event to the log in the current transaction."""
        self.run("INSERT INTO memory_events (ts, name, payload) VALUES (?, ?, ?)", now, name, canonical(payload, where=name))

    def events(self, name: str | None, after: int) -> list[dict[str, Any]]:
        """Return the events with a sequence number above `after`, in order, with their payloads."""
        query = "SELECT * FROM memory_events WHERE seq > ? AND (? IS NULL OR name = ?) ORDER BY seq"
        return self.decoded(lambda row: dict(row) | {"payload": json.loads(row["payload"])}, query, after, name, name)

    def meta(self, name: str) -> Any:
        rows = self.rows("SELECT value FROM memory_meta WHERE name = ?", name)
        return rows[0]["value"] if rows else None

    def close(self) -> None:
        self._connection.close()


def any_word(text: str) -> str:
    """Return a full-text query that matches any word of a text, or an empty string if there are no words.

    >>> any_word('who is "on call"?')
    '"who" OR "is" OR "on" OR "call"'
    """
    words = "".join(sign if sign.isalnum() else " " for sign in text).split()
    return " OR ".join(f'"{word}"' for word in dict.fromkeys(words))


def marks_for(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


LAST = "last_pass"
_REMOVABLE = "SELECT id, lane, kind, hash, expires, updated FROM memory_records"


def one_pass(database: Database, now: int, upkeep: Upkeep) -> list[dict[str, Any]]:
    """Remove expired and surplus records of all kinds in one pass. Return the payloads of the removal events."""
    with database.change():
        rows = database.rows(f"{_REMOVABLE} ORDER BY seq")
        lanes, expires, updated = ([row[name] for row in rows] for name in ("lane", "expires", "updated"))
        return [_remove(database, rows[row], reason, now) for row, reason in due(lanes, expires, updated, now, upkeep)]


def due_passes(database: Database, now: int, upkeep: Upkeep) -> list[dict[str, Any]]:
    """Run one pass for every `every_s` seconds since the last pass. The first call runs one pass."""
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
            time = now if last is None else last + passes * every
            database.run("INSERT OR REPLACE INTO memory_meta VALUES (?, ?)", LAST, time)
    return removals


def remove_expired(database: Database, digest: str, form: str, now: int) -> None:
    """Remove the expired records with a given hash, before an equal record is written."""
    for row in database.rows(f"{_REMOVABLE} WHERE hash = ? AND {form} AND expires <= ?", digest, now):
        _remove(database, row, "ttl", now)


def _remove(database: Database, row: Mapping[str, Any], reason: str, now: int) -> dict[str, Any]:
    payload = {name: row[name] for name in ("id", "lane", "kind", "hash")} | {"reason": reason}
    database.remove(row["id"])
    database.emit("memory.item.expired", now, payload)
    return payload
