"""Erasure of rows from a store's file: replaced fields, full-text index, free pages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from malsim.base.files.sqlite_file import holds_table
from malsim.memory.tables.write import index_words

if TYPE_CHECKING:
    import sqlite3

    from malsim.memory.graph.arrays import Ints

_OF_ROWS = "IN (SELECT value FROM json_each(?))"


def purge(connection: sqlite3.Connection, rows: Ints, texts: tuple[str, ...], keys: list[str]) -> None:
    """Remove, within a transaction, what these rows said from all tables but `cells`, and rebuild the index.

    `texts` are the fields that were erased, `keys` the names that the rows had, by which importers keep what else they read.
    """
    within, fields = json.dumps(rows.tolist()), json.dumps(texts)
    connection.execute(f"DELETE FROM rewritten WHERE cell {_OF_ROWS} AND field {_OF_ROWS}", (within, fields))
    connection.execute(f"UPDATE verdicts SET issues = '[]', notes = '[]' WHERE cell {_OF_ROWS}", (within,))
    if holds_table(connection, "happenings"):
        names = f'SELECT rep, handle FROM cells WHERE "row" {_OF_ROWS}'
        connection.execute(f"UPDATE happenings SET detail = '' WHERE (rep, subject) IN ({names})", (within,))
    if holds_table(connection, "extras"):
        connection.execute(f"DELETE FROM extras WHERE cell {_OF_ROWS}", (json.dumps(keys),))
    connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
    index_words(connection, "true")


def shred(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
