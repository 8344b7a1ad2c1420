"""Saving of imported records as a store: either the whole store is written or nothing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from malsim.base.errors import StoreError
from malsim.base.files.outputs import beside_it
from malsim.importers.building.assemble import ImportedMemory
from malsim.importers.reading.records import EXTRAS
from malsim.memory.store import Store, scopes
from malsim.memory.tables.connect import connect, refusing, transaction
from malsim.memory.tables.rows import insert, select

_TABLE = "CREATE TABLE IF NOT EXISTS extras (cell TEXT, name TEXT, value TEXT)"


def write(came: ImportedMemory, path: Path, numbers: Mapping[str, int] | None = None) -> None:
    """Write a store that holds what came; a store that is there already must hold a part of it, and grows.

    A new file appears when all of it is written; `numbers` are the replications of its scopes. Raises `StoreError` where
    another memory exists there already.
    """
    with Store(path) if path.exists() else _new_store(path) as store:
        store.save(came.memory, start=came.start)
        _keep_extras(store, came.extras)
        _keep_scopes(store, numbers)
        if (wiring := came.wiring) and not store.standing.text:
            store.wire(lambda memory, _: (memory, wiring))


@contextmanager
def _new_store(path: Path) -> Iterator[Store]:
    """Open an empty store in a temporary folder next to the path, and move it to the path when the block ends."""
    if not path.parent.is_dir():
        raise StoreError("no such folder", where=str(path.parent))
    folder = beside_it(path.parent)
    try:
        target = folder / path.name
        with Store(target) as store:
            yield store
        os.replace(target, path)  # noqa: PTH105  # one step, even if a file exists there
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _keep_extras(store: Store, values: pl.DataFrame) -> None:
    if values.is_empty():
        return
    with refusing(store.path), transaction(store.connection):
        store.connection.execute(_TABLE)
        store.connection.execute("DELETE FROM extras")
        insert(store.connection, "extras", values)


def _keep_scopes(store: Store, numbers: Mapping[str, int] | None) -> None:
    if numbers:
        with refusing(store.path), transaction(store.connection):
            scopes.keep(store.connection, numbers)


def extras(path: Path) -> pl.DataFrame:
    """Return the source's values that have no column in a memory: cell (a key), name, value as JSON."""
    file = connect(path)
    try:
        with refusing(path):
            if not file.execute("SELECT 1 FROM sqlite_master WHERE name = 'extras'").fetchone():
                return pl.DataFrame(schema=EXTRAS)
            return select(file, "SELECT cell, name, value FROM extras ORDER BY rowid", EXTRAS)
    finally:
        file.close()
