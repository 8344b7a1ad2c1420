"""Saving of an imported memory as a store, all or nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from malsim.base.errors import StoreError
from malsim.base.files.outputs import hidden_folder
from malsim.importers.building.assemble import ImportedMemory
from malsim.importers.reading.records import EXTRAS
from malsim.memory.store import Store, scopes
from malsim.memory.tables.connect import connect, refusing, transaction
from malsim.memory.tables.rows import insert, select

_TABLE = "CREATE TABLE IF NOT EXISTS extras (cell TEXT, name TEXT, value TEXT)"


def write(imported: ImportedMemory, path: Path, numbers: Mapping[str, int] | None = None) -> None:
    """Write an imported memory to a new store, or extend an existing store that already holds part of it.

    A new file appears only when it is complete. `numbers` maps scopes to replications. Raises `StoreError` if the path
    holds another memory.
    """
    with Store(path) if path.exists() else _new_store(path) as store:
        store.save(imported.memory, start=imported.start)
        with refusing(store.path), transaction(store.connection):
            if not imported.extras.is_empty():
                store.connection.execute(_TABLE)
                store.connection.execute("DELETE FROM extras")
                insert(store.connection, "extras", imported.extras)
            if numbers:
                scopes.keep(store.connection, numbers)
        if (wiring := imported.wiring) and not store.standing.text:
            store.wire(lambda memory, _: (memory, wiring))


@contextmanager
def _new_store(path: Path) -> Iterator[Store]:
    """Yield an empty store in a temporary folder, and move it to the path at the end of the block."""
    if not path.parent.is_dir():
        raise StoreError("no such folder", where=str(path.parent), hint="create the folder first")
    with hidden_folder(path.parent) as folder:
        target = folder / path.name
        with Store(target) as store:
            yield store
        target.replace(path)


def extras(path: Path) -> pl.DataFrame:
    """Return the imported fields that have no column in a memory: (key of the cell, name, value as JSON)."""
    file = connect(path)
    try:
        with refusing(path):
            if not file.execute("SELECT 1 FROM sqlite_master WHERE name = 'extras'").fetchone():
                return pl.DataFrame(schema=EXTRAS)
            return select(file, "SELECT cell, name, value FROM extras ORDER BY rowid", EXTRAS)
    finally:
        file.close()
