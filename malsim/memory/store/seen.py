"""Optimistic concurrency: a write based on an outdated version is refused, or marked if it names no version.

The version of a cell counts what was written about it: the cells of its line and of its object, the updates and rejections
of these. Whoever read version n writes with `if_seen = n`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.base.errors import UsageError
from malsim.memory import schema
from malsim.memory.store.needed_rows import cells_where, line_of
from malsim.memory.tables.store_part import within

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping

BOTH_MARKED = "both stay marked ^ until one is superseded"
_OF_ROWS = "IN (SELECT value FROM json_each(?1))"


class StaleError(UsageError):
    """Write based on an outdated version."""


def version(connection: sqlite3.Connection, names: Iterable[str], object_: str | None, rep: int) -> int:
    """Return the version of the cells with these names (handles or keys) and of an object; 0 if there are none."""
    return _count(connection, _rows(connection, names, object_, rep))


def cells_in(connection: sqlite3.Connection, rows: Iterable[int]) -> list[tuple[str, str, int]]:
    """Return handle, writer and replication of some rows, in the order given."""
    query = 'SELECT handle, writer, rep FROM json_each(?) AS wanted JOIN cells ON "row" = wanted.value ORDER BY wanted.key'
    return connection.execute(query, (json.dumps([*rows]),)).fetchall()


def check_seen(
    connection: sqlite3.Connection, names: Iterable[str], object_: str | None, rep: int, if_seen: int | None
) -> None:
    """Raise `StaleError`, naming the newest cell, unless the version is `if_seen`."""
    if if_seen is None:
        return
    rows = _rows(connection, names := list(names), object_, rep)
    if (newest := _count(connection, rows)) != if_seen:
        query = f'SELECT handle FROM cells WHERE "row" {_OF_ROWS} ORDER BY status = \'active\' DESC, "row" DESC LIMIT 1'
        handle = connection.execute(query, (json.dumps([*rows]),)).fetchone()
        allowed = f"{newest}, after expanding {handle[0]}" if handle else f"{newest}: nothing stands there"
        where = " ".join(names) or object_
        raise StaleError("changed since it was read", where=where, given=f"if_seen {if_seen}", allowed=allowed)


def beside_newer(connection: sqlite3.Connection, claim: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Return a claim (a frame of one row) and notes on the newer cells that stand beside it.

    Where it supersedes a cell that was superseded already, the newest cell of that line stands too: an edge of mutual
    contradiction marks both until somebody supersedes one of them.
    """
    given = claim.row(0, named=True)
    edges = given["edges"] or []
    names = {edge["target"] for edge in edges if edge["relation"] == "supersedes"}
    replaced = cells_where(connection, f"rep = ? AND status = 'superseded' AND {_named(names)}", (given["rep"],))
    line = json.dumps([*line_of(connection, replaced)]) if replaced else "[]"
    query = f'SELECT handle, writer, created FROM cells WHERE "row" {_OF_ROWS} AND status = \'active\' ORDER BY "row"'
    newer = [row for row in connection.execute(query, (line,)) if row[0] not in names]
    if not newer:
        return claim, []
    against = [{"relation": "contradicts", "target": handle, "weight": None, "mutual": True} for handle, _, _ in newer]
    both = pl.Series("edges", [[*edges, *against]], dtype=schema.CLAIMS["edges"])
    notes = [
        f"{handle} of {writer}, day {day:.4g}, is newer than what this replaces; {BOTH_MARKED}"
        for handle, writer, day in newer
    ]
    return claim.with_columns(both), notes


def rival(connection: sqlite3.Connection, claim: Mapping[str, Any]) -> tuple[str, str, float] | None:
    """Return handle, writer and day of the newest other value of a claim's object by another writer, or None."""
    value, text = claim.get("value"), claim.get("value_text")
    if not claim.get("object") or (value is None and text is None):
        return None
    query = """SELECT handle, writer, created FROM cells WHERE rep = ? AND object = ? AND status = 'active'
        AND rejected IS NULL AND writer <> ? AND (value IS NOT ? OR value_text IS NOT ?)
        AND coalesce(value, value_text) IS NOT NULL ORDER BY "row" DESC LIMIT 1"""
    row: tuple[str, str, float] | None = connection.execute(
        query, (claim["rep"], claim["object"], claim["writer"], value, text)
    ).fetchone()
    return row


def _named(names: Iterable[str]) -> str:
    return f"({within('handle', names := list(names))} OR {within('key', names)})"


def _rows(connection: sqlite3.Connection, names: Iterable[str], object_: str | None, rep: int) -> set[int]:
    """Return the rows of these cells and of all cells about their objects, or about the given object."""
    rows = line_of(connection, cells_where(connection, f"rep = ? AND {_named(names)}", (rep,)))
    query = f'SELECT DISTINCT object FROM cells WHERE "row" {_OF_ROWS} AND object IS NOT NULL'
    objects = {str(name) for (name,) in connection.execute(query, (json.dumps([*rows]),))} | (
        {object_} if object_ else set()
    )
    return rows | (cells_where(connection, f"rep = ? AND {within('object', objects)}", (rep,)) if objects else set())


def _count(connection: sqlite3.Connection, rows: set[int]) -> int:
    updates = f"""SELECT count(*) FROM (SELECT DISTINCT cell, until FROM rewritten JOIN ticks ON ticks."row" = until
        WHERE ticks.deed = 'update' AND cell {_OF_ROWS})"""
    rejected = f'SELECT count(*) FROM cells WHERE rejected IS NOT NULL AND "row" {_OF_ROWS}'
    those = (json.dumps([*rows]),)
    return len(rows) + sum(int(connection.execute(query, those).fetchone()[0]) for query in (updates, rejected))
