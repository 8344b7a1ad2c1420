"""What was imported, as a store: whole, or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from malsim.errors import StoreError
from malsim.importers.reading.records import EXTRAS
from malsim.memory.store import Store
from malsim.memory.tables.connect import connect, refusing
from malsim.memory.tables.rows import insert, select

if TYPE_CHECKING:
    from malsim.importers.building.assemble import Imported

__all__ = ["extras", "write"]

_TABLE = "CREATE TABLE IF NOT EXISTS extras (cell TEXT, name TEXT, value TEXT)"


def write(came: Imported, path: Path) -> None:
    """Write a store that holds what came; a store that is there already must hold a part of it, and grows.

    A new file appears when all of it is written. Raises `StoreError` where another memory stands there already.
    """
    if path.exists():
        _fill(came, path)
        return
    if not path.parent.is_dir():
        raise StoreError("no such folder", where=str(path.parent))
    with tempfile.TemporaryDirectory(prefix=f".{path.name}-", dir=path.parent) as folder:
        _fill(came, Path(folder) / path.name)
        os.replace(Path(folder) / path.name, path)  # noqa: PTH105  # one step, whatever stood there


def _fill(came: Imported, path: Path) -> None:
    with Store(path) as store:
        store.save(came.memory, start=came.start)
        if came.extras.height:
            with refusing(path), store.connection as file:
                file.execute(_TABLE)
                file.execute("DELETE FROM extras")
                insert(file, "extras", came.extras)


def extras(path: Path) -> pl.DataFrame:
    """What a store keeps of its source beside the memory: cell (a key), name, value as JSON."""
    file = connect(path)
    try:
        with refusing(path):
            if not file.execute("SELECT 1 FROM sqlite_master WHERE name = 'extras'").fetchone():
                return pl.DataFrame(schema=EXTRAS)
            return select(file, "SELECT cell, name, value FROM extras ORDER BY rowid", EXTRAS)
    finally:
        file.close()
