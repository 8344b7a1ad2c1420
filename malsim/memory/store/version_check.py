"""Optimistic concurrency: a write based on an outdated version is refused or, if it names no version, disputed.

The version of a cell is the number of writes about it: the cells of its chain and of its object, and their updates and
rejections. A writer that read version n writes with `if_seen = n`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl

from malsim.base.errors import UsageError
from malsim.memory import schema
from malsim.memory.store.partial_load import chains_of, named, rows_where
from malsim.memory.tables.read import within

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

_OF_ROWS = "IN (SELECT value FROM json_each(?1))"


class StaleError(UsageError):
    """Error for a write that is based on an outdated version of a cell or object."""


def version_of(connection: sqlite3.Connection, names: Iterable[str], object_: str | None, rep: int) -> int:
    """Return the version of the cells with these names (handles or keys) and of an object, or 0 if there are no cells."""
    return _count_writes(connection, _rows_about(connection, names, object_, rep))


def check_version(
    connection: sqlite3.Connection, names: Iterable[str], object_: str | None, rep: int, if_seen: int | None
) -> None:
    """Raise `StaleError`, naming the newest cell, if the version differs from `if_seen`. None skips the check."""
    if if_seen is None:
        return
    rows = _rows_about(connection, names := list(names), object_, rep)
    if (version := _count_writes(connection, rows)) != if_seen:
        query = f'SELECT handle FROM cells WHERE "row" {_OF_ROWS} ORDER BY status = \'active\' DESC, "row" DESC LIMIT 1'
        newest = connection.execute(query, (json.dumps([*rows]),)).fetchone()
        allowed = f"{version}, after expanding {newest[0]}" if newest else f"{version}: there is no such cell"
        where = " ".join(names) or object_
        raise StaleError(
            "the cell or object has changed since it was read", where=where, given=f"if_seen {if_seen}", allowed=allowed
        )


def contradict_newer(
    connection: sqlite3.Connection, claim: pl.DataFrame, *, mark_rivals: bool
) -> tuple[pl.DataFrame, list[str]]:
    """Make a claim and the newer cells that it ignores contradict each other. Return the claim (one row) and notes on cells.

    If the claim supersedes a cell that is already superseded, these are the active cells of that chain. With `mark_rivals`,
    for a claim without edges, it is the newest other value of the object by another writer.
    """
    row = claim.row(0, named=True)
    edges, names, reason = row["edges"] or [], set[str](), "claims another value"
    condition, parameters = "FALSE", list[object]()
    if edges:
        names = {edge["target"] for edge in edges if edge["relation"] == "supersedes"}
        superseded = f"rep = ? AND status = 'superseded' AND {named(names)}"
        chain = chains_of(connection, rows_where(connection, superseded, (row["rep"],))) if names else set()
        condition, reason = within('"row"', chain), "is newer than what this replaces"
    elif mark_rivals and row["object"] and not (row["value"] is None and row["value_text"] is None):
        condition = """"row" = (SELECT max("row") FROM cells WHERE rep = ? AND object = ? AND status = 'active'
            AND rejected IS NULL AND writer <> ? AND (value IS NOT ? OR value_text IS NOT ?)
            AND coalesce(value, value_text) IS NOT NULL)"""
        parameters = [row[name] for name in ("rep", "object", "writer", "value", "value_text")]
    query = f"SELECT handle, writer, created FROM cells WHERE {condition} AND status = 'active' ORDER BY \"row\""
    newer = [cell for cell in connection.execute(query, parameters) if cell[0] not in names]
    if not newer:
        return claim, []
    against = [{"relation": "contradicts", "target": handle, "weight": None, "mutual": True} for handle, _, _ in newer]
    notes = [
        f"{handle} of {writer}, day {day:.4g}, {reason}; both stay marked ^ until one is superseded"
        for handle, writer, day in newer
    ]
    return claim.with_columns(pl.Series("edges", [[*edges, *against]], dtype=schema.CLAIMS["edges"])), notes


def _rows_about(connection: sqlite3.Connection, names: Iterable[str], object_: str | None, rep: int) -> set[int]:
    """Return the rows of these cells and of all cells about their objects, or about the given object."""
    rows = chains_of(connection, rows_where(connection, f"rep = ? AND {named(names)}", (rep,)))
    query = f'SELECT DISTINCT object FROM cells WHERE "row" {_OF_ROWS} AND object IS NOT NULL'
    objects = {str(name) for (name,) in connection.execute(query, (json.dumps([*rows]),))}
    objects |= {object_} if object_ else set()
    return rows | rows_where(connection, f"rep = ? AND {within('object', objects)}", (rep,))


def _count_writes(connection: sqlite3.Connection, rows: set[int]) -> int:
    updates = f"""SELECT count(*) FROM (SELECT DISTINCT cell, until FROM rewritten JOIN ticks ON ticks."row" = until
        WHERE ticks.deed = 'update' AND cell {_OF_ROWS})"""
    rejected = f'SELECT count(*) FROM cells WHERE rejected IS NOT NULL AND "row" {_OF_ROWS}'
    parameters = (json.dumps([*rows]),)
    return len(rows) + sum(int(connection.execute(query, parameters).fetchone()[0]) for query in (updates, rejected))
