"""An empty store filled with rows that come some at a time, so that only those are held."""

from __future__ import annotations

from typing import TYPE_CHECKING

from malsim.errors import StoreError
from malsim.memory.tables.connect import transaction
from malsim.memory.tables.read import last_day
from malsim.memory.tables.write import add, days_in, log_write

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    import polars as pl

__all__ = ["fill"]


def fill(connection: sqlite3.Connection, rows: Iterable[tuple[str, pl.DataFrame]], *, start: str | None = None) -> None:
    """Add rows (`cells`, `edges` or `writers`, and a frame), then keep that they were saved, as `write` does at once.

    Each frame is a transaction: fill a file that nobody knows of until it is whole. `start` is the date of day 0. Raises
    `StoreError` where the store was written to before.
    """
    if last_day(connection) is not None:
        raise StoreError("holds something already")
    heights, latest = {"cells": 0, "edges": 0, "writers": 0}, list[float]()
    for table, frame in rows:
        with transaction(connection):
            add(connection, table, frame, heights[table])
        heights[table] += frame.height
        latest += days_in(frame)
    with transaction(connection):
        edges = heights["edges"]
        log_write(connection, (1, max(latest, default=0.0), "save", heights["cells"], edges, edges, 0, None))
        if start is not None:
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('start', ?)", (start,))
