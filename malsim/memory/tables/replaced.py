"""Every value that a write replaced, with the write up to which it was valid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from malsim.memory import schema
from malsim.memory.tables.layout import CELLS, MOVING, RECORD
from malsim.memory.tables.rows import select

if TYPE_CHECKING:
    import sqlite3

__all__ = ["fields", "records", "scores", "updates"]


def scores(connection: sqlite3.Connection) -> pl.DataFrame:
    """Values of cells that time and evidence move: row, until (a write's number), columns of MOVING."""
    kinds = {"row": pl.Int64, "until": pl.Int64, **{name: CELLS[name] for name in MOVING}}
    names = ", ".join(f'"{name}"' for name in MOVING)
    return select(connection, f"SELECT cell, until, {names} FROM past ORDER BY cell, until", kinds)


def fields(connection: sqlite3.Connection) -> dict[str, pl.DataFrame]:
    """Fields that somebody rewrote, each by its name: row, until, and the field."""
    found = {}
    for (field,) in connection.execute("SELECT DISTINCT field FROM rewritten ORDER BY field").fetchall():
        kinds = {"row": pl.Int64, "until": pl.Int64, "value": pl.String}
        query = "SELECT cell, until, value FROM rewritten WHERE field = ? ORDER BY cell, until"
        old, kind = select(connection, query, kinds, (field,)), CELLS[field]
        read_as = pl.Struct({"x": pl.String if isinstance(kind, pl.Enum) else kind})
        value = pl.col("value").str.json_decode(read_as).struct.field("x").cast(kind).alias(field)
        found[field] = old.select("row", "until", value)
    return found


def updates(connection: sqlite3.Connection) -> pl.DataFrame:
    """Which fields were rewritten, in what order, by whom (null where nobody was named): t (days), row, field, writer."""
    kinds = {"t": pl.Float64, "row": pl.Int64, "field": pl.String, "writer": pl.String}
    query = """SELECT t, cell, field, writer FROM rewritten JOIN ticks ON ticks."row" = rewritten.until
               ORDER BY rewritten.until, cell, field"""
    return select(connection, query, kinds)


def records(connection: sqlite3.Connection) -> pl.DataFrame:
    """What was on record of writers: row, until, columns of RECORD."""
    kinds = {"row": pl.Int64, "until": pl.Int64, **{name: schema.WRITERS[name] for name in RECORD}}
    return select(connection, f"SELECT writer, until, {', '.join(RECORD)} FROM records ORDER BY writer, until", kinds)
