"""Stores of older schemas, brought to the present one: a copy is kept, and the change is one transaction."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import polars as pl

from malsim.base.errors import StoreError
from malsim.base.files.outputs import whole_file
from malsim.base.files.sqlite_file import check_header, transaction
from malsim.memory.graph.frames import to_array
from malsim.memory.tables import scores
from malsim.memory.tables.connect import refusing
from malsim.memory.tables.layout import APPLICATION, CELLS, INDEXES, SCORES, STATEMENTS, VERSION
from malsim.memory.tables.read import names_of
from malsim.memory.tables.rows import select

if TYPE_CHECKING:
    from pathlib import Path

OLDEST = 3
NEW_TABLES = ("scores", "past_scores", "clocks", "unseen", "views")  # of the fourth schema


def _scores_by_column(store: sqlite3.Connection) -> None:
    """From the third schema to the fourth: scores stood in the rows of cells and of their past, a tick rewrote them all."""
    kinds = {name: CELLS[name] for name in (*SCORES, "status")}
    cells = select(store, f'SELECT {names_of(kinds)} FROM cells ORDER BY "row"', kinds)
    kinds = {"cell": pl.Int64, "until": pl.Int64, **{name: CELLS[name] for name in SCORES}}
    past = select(store, f"SELECT {names_of(kinds)} FROM past ORDER BY until, cell", kinds)
    for name in NEW_TABLES:
        store.execute(_statement(name))
    scores.add(store, cells, 0)
    for (until,), own in past.group_by("until", maintain_order=True):
        for name in SCORES:
            scores.keep_replaced(store, int(str(until)), name, own["cell"].to_numpy(), to_array(own[name]))
    for name in ("cells", "past"):
        _make_anew(store, name)
    for statement in INDEXES:
        store.execute(statement)


def _make_anew(store: sqlite3.Connection, table: str) -> None:
    """The same rows in the table as the present schema has it."""
    store.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
    store.execute(_statement(table))
    ours, theirs = (
        {row[1]: None for row in store.execute(f"PRAGMA table_info({name})")} for name in (table, f"old_{table}")
    )
    names = names_of(name for name in ours if name in theirs)
    store.execute(f"INSERT INTO {table} ({names}) SELECT {names} FROM old_{table}")
    store.execute(f"DROP TABLE old_{table}")


def _statement(table: str) -> str:
    """What makes a table."""
    return next(statement for statement in STATEMENTS if statement.startswith(f"CREATE TABLE {table} "))


STEPS = {3: _scores_by_column}  # from each version to the next


def migrate(path: Path, *, wait: float = 5.0) -> Path | None:
    """Bring a store's file to the present schema; returns the copy of what it was, or None where it is of today.

    The copy stands beside it as NAME.v3 and is whole before anything is changed. Raises `StoreError` for what is no store,
    a newer one, one that is damaged or busy, and where such a copy is there already; the file is as it was then.
    """
    if not path.is_file():
        raise StoreError("no such store", where=str(path))
    old = check_header(path, APPLICATION, range(OLDEST, VERSION + 1))
    if old == VERSION:
        return None
    copy = path.with_name(f"{path.name}.v{old}")
    if copy.exists():
        raise StoreError("a copy of an older schema is there already", where=str(copy), hint="move it away")
    with refusing(path), closing(sqlite3.connect(path, isolation_level=None, timeout=wait)) as store, transaction(store):
        old = int(store.execute("PRAGMA user_version").fetchone()[0])  # another process may have been first
        if old == VERSION:
            return None
        with whole_file(copy) as place, closing(sqlite3.connect(path)) as reader, closing(sqlite3.connect(place)) as backup:
            reader.backup(backup)
        for version in range(old, VERSION):
            STEPS[version](store)
        store.execute(f"PRAGMA user_version = {VERSION}")
    return copy
