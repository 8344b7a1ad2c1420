"""Tables of a store: cells, edges, writers, verdicts, ticks, replaced values, and the full-text index."""

from __future__ import annotations

from datetime import date

import polars as pl

from malsim.memory import schema

APPLICATION = 0x6D616C73  # SQLite application id of every store: "mals" in ASCII
VERSION = 4

# The hash `content` is not stored, but computed when cells are read.
CELLS = {name: kind for name, kind in schema.CELLS.items() if name != "content"}
SCORES = ("calibration", "support_mass", "challenge_mass", "worth", "effective", "currency", "salience")
"""Scores that a tick computes, stored by column: a tick then writes some pages and not every row; see `scores.py`."""
STORED = {name: kind for name, kind in CELLS.items() if name not in SCORES}
MOVING = ("c0", "salience_seed", *schema.FLAGS, "status", "version", "successor", "touched", "read")
RECORD = ("claims", "contradicted", "calibration")
TICKS: dict[str, pl.DataType | type[pl.DataType]] = {
    "t": pl.Float64, "deed": pl.String, "cells": pl.Int64, "edges": pl.Int64, "scanned": pl.Int64, "changed": pl.Int64,
    "writer": pl.String,
}  # fmt: skip


def _columns(kinds: dict[str, pl.DataType | type[pl.DataType]]) -> str:
    whole = (pl.Int32, pl.UInt32, pl.Int64, pl.Boolean)
    types = ("REAL" if kind == pl.Float64 else "INTEGER" if kind in whole else "TEXT" for kind in kinds.values())
    return ", ".join(f'"{name}" {kind}' for name, kind in zip(kinds, types, strict=True))


STATEMENTS = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID",
    f'CREATE TABLE cells ("row" INTEGER PRIMARY KEY, {_columns(STORED)})',
    f'CREATE TABLE edges ("row" INTEGER PRIMARY KEY, {_columns(schema.EDGES)})',
    f'CREATE TABLE writers ("row" INTEGER PRIMARY KEY, {_columns(schema.WRITERS)})',
    f'CREATE TABLE verdicts ("row" INTEGER PRIMARY KEY, {_columns(schema.VERDICTS)})',
    f'CREATE TABLE ticks ("row" INTEGER PRIMARY KEY, {_columns(TICKS)})',
    f"""CREATE TABLE past (cell INTEGER, until INTEGER, {_columns({name: CELLS[name] for name in MOVING})},
        PRIMARY KEY (cell, until)) WITHOUT ROWID""",
    """CREATE TABLE rewritten (cell INTEGER, until INTEGER, field TEXT, value TEXT,
        PRIMARY KEY (cell, until, field)) WITHOUT ROWID""",
    f"""CREATE TABLE records (writer INTEGER, until INTEGER, {_columns({name: schema.WRITERS[name] for name in RECORD})},
        PRIMARY KEY (writer, until)) WITHOUT ROWID""",
    "CREATE TABLE scores (name TEXT, part INTEGER, data BLOB, PRIMARY KEY (name, part))",
    "CREATE TABLE past_scores (until INTEGER, name TEXT, cells BLOB, data BLOB)",
    """CREATE TABLE clocks (deed INTEGER PRIMARY KEY, now REAL, currency_floor REAL, tau_stable REAL, tau_volatile REAL,
        tau_ephemeral REAL, salience_floor REAL, salience_tau REAL, rules TEXT)""",
    "CREATE TABLE unseen (cell INTEGER PRIMARY KEY)",
    "CREATE VIRTUAL TABLE words USING fts5 (handle, title, tags, summary, body, content='', tokenize='porter unicode61')",
    "INSERT INTO words (words, rank) VALUES ('rank', 'bm25(4.0, 3.0, 2.0, 1.0, 1.0)')",
)
INDEXES = (  # created after the first insert, which is faster than updating the indexes for each row
    "CREATE INDEX IF NOT EXISTS cells_by_handle ON cells (handle)",
    "CREATE INDEX IF NOT EXISTS cells_by_key ON cells (key)",
    "CREATE INDEX IF NOT EXISTS cells_by_object ON cells (rep, object)",
    "CREATE INDEX IF NOT EXISTS cells_by_author ON cells (author)",
    "CREATE INDEX IF NOT EXISTS cells_by_successor ON cells (successor) WHERE successor IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS cells_by_tombstone ON cells (tombstone) WHERE tombstone IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS cells_replaced ON cells (author) WHERE successor IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS cells_unstated ON cells (author) WHERE stated IS NULL",
    "CREATE INDEX IF NOT EXISTS edges_by_source ON edges (source)",
    "CREATE INDEX IF NOT EXISTS edges_by_target ON edges (target)",
    "CREATE INDEX IF NOT EXISTS edges_contradicting ON edges (target) WHERE relation = 'contradicts'",
)

FILLED = {
    "cells": (
        "rep", "key", "handle", "kind", "writer", "author", *schema.FLAGS, "immutable", "status", "version", "topics",
        "entities", "source_refs", "sensitivity",
    ),
    "edges": ("source", "relation", "target", "weight"),
    "writers": tuple(schema.WRITERS),
}  # fmt: skip


def is_date(value: object) -> bool:
    """Return whether a value is a date in ISO 8601 notation."""
    try:
        date.fromisoformat(value)  # type: ignore[arg-type]  # raises for other types
    except (TypeError, ValueError):
        return False
    return True


class DamagedRowsError(ValueError):
    """Error for invalid rows in a store. The caller, which knows the file name, converts it to a `StoreError`."""


def check_rows(cells: pl.DataFrame, edges: pl.DataFrame, writers: pl.DataFrame, scanned: object) -> int:
    """Check references, required values and `scanned` (the number of edges that the last tick read); return `scanned`.

    The frames of cells and edges may lack columns. Raises `DamagedRowsError`.
    """
    for name, frame in (("cells", cells), ("edges", edges), ("writers", writers)):
        if any(frame[column].null_count() for column in FILLED[name] if column in frame.columns):
            raise DamagedRowsError(f"a required value is missing in the table `{name}`")
    if any(cells.select(pl.col(pl.Float64).is_infinite().any()).row(0)):
        raise DamagedRowsError("the table `cells` contains an infinite number")
    ends = ((cells["author"], writers), (cells["successor"], cells), (edges["source"], cells), (edges["target"], cells))
    for rows, among in ends:
        present = rows.drop_nulls()
        if not present.is_between(0, among.height, closed="left").all():
            raise DamagedRowsError(f"{rows.name} refers to a row that does not exist")
    if not (isinstance(scanned, int) and 0 <= scanned <= edges.height):
        raise DamagedRowsError("the number of scanned edges is invalid")
    return scanned
