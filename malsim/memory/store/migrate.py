"""Stores of older schemas, brought to the present one: a copy is kept, and the change is one transaction."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from malsim.base.errors import StoreError
from malsim.base.outputs import whole_file
from malsim.base.sqlite_file import check_header, transaction
from malsim.memory.tables.connect import refusing
from malsim.memory.tables.layout import APPLICATION, STATEMENTS, VERSION

if TYPE_CHECKING:
    from pathlib import Path

OLDEST = 1
_TICKS = """CREATE TABLE ticks ("row" INTEGER PRIMARY KEY, "t" REAL, "deed" TEXT, "cells" INTEGER, "edges" INTEGER,
    "scanned" INTEGER, "changed" INTEGER)"""  # as the second schema has it
_SCANNED = """(SELECT coalesce(max(edges), 0) FROM old_ticks AS before
    WHERE before.deed = 'tick' AND before."row" <= old."row")"""
STEPS = {  # from each version to the next
    1: (
        "ALTER TABLE ticks RENAME TO old_ticks",
        _TICKS,
        f'INSERT INTO ticks SELECT "row", t, deed, cells, edges, {_SCANNED}, changed FROM old_ticks AS old ORDER BY "row"',
        "DROP TABLE old_ticks",
        STATEMENTS[-1],
    ),
    2: ('ALTER TABLE ticks ADD COLUMN "writer" TEXT',),
}


def migrate(path: Path, *, wait: float = 5.0) -> Path | None:
    """Bring a store's file to the present schema; returns the copy of what it was, or None where it is of today.

    The copy stands beside it as NAME.v1 and is whole before anything is changed. Raises `StoreError` for what is no store,
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
            for statement in STEPS[version]:
                store.execute(statement)
        store.execute(f"PRAGMA user_version = {VERSION}")
    return copy
