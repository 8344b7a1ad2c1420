"""Scopes of a store. Each scope has its own replication and can read objects that other scopes share with it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from malsim.base.errors import UsageError
from malsim.base.finite import LONGEST_SCOPE
from malsim.base.screen import holds_secret
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Mapping


def names(connection: sqlite3.Connection) -> dict[str, int]:
    return {"": 0} | dict(_read(connection, "scopes"))


def number(connection: sqlite3.Connection, scope: str) -> int:
    return names(connection).get(scope, NONE)


def add(connection: sqlite3.Connection, scope: str) -> int:
    if len(scope) > LONGEST_SCOPE:
        allowed = f"at most {LONGEST_SCOPE} characters"
        raise UsageError("the name is too long", where="scope", given=scope, allowed=allowed)
    numbers = names(connection)
    if scope not in numbers:
        _refuse_secret(scope, "scope")
        highest = connection.execute("SELECT coalesce(max(rep), 0) FROM cells").fetchone()[0]
        numbers[scope] = max(highest, *numbers.values()) + 1
        _write(connection, "scopes", [list(pair) for pair in numbers.items()])
    return numbers[scope]


def keep(connection: sqlite3.Connection, numbers: Mapping[str, int]) -> None:
    for scope in numbers:
        _refuse_secret(scope, "scope")
    _write(connection, "scopes", [list(pair) for pair in (dict(numbers) | names(connection)).items() if pair[1]])


def readable_all(connection: sqlite3.Connection, rep: int) -> set[int]:
    """Return this replication and all replications that share an object with it."""
    return {rep, *(source for source, _, reader in _read(connection, "shares") if reader == rep)}


def readable(connection: sqlite3.Connection, rep: int, object_: str) -> list[int]:
    return [rep, *(source for source, name, reader in _read(connection, "shares") if (name, reader) == (object_, rep))]


def share(connection: sqlite3.Connection, rep: int, object_: str, reader: int, *, shared: bool) -> None:
    _refuse_secret(object_, "object")
    others = [share for share in _read(connection, "shares") if share != [rep, object_, reader]]
    _write(connection, "shares", [*others, [rep, object_, reader]] if shared else others)


def unshare_all(connection: sqlite3.Connection, objects: Collection[str | None]) -> None:
    shares = _read(connection, "shares")
    if any(name in objects for _, name, _ in shares):
        _write(connection, "shares", [share for share in shares if share[1] not in objects])


def _refuse_secret(name: str, where: str) -> None:
    if holds_secret(name):
        raise UsageError("a name must not contain a credential", where=where, given=name, hint="choose another name")


def _read(connection: sqlite3.Connection, name: str) -> list[list[Any]]:
    row = connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return json.loads(row[0]) if row else []


def _write(connection: sqlite3.Connection, name: str, value: list[list[object]]) -> None:
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, json.dumps(value)))
