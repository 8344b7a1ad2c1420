"""Benchmark of a store with a million cells: times relative to SQLite, and growth of the file per tick."""

from __future__ import annotations

import itertools
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from malsim.memory.law import tick
from malsim.memory.store import Store
from malsim.memory.tables.read import LAW_CELLS, LAW_EDGES
from tests.bench.rows.memory import graph
from tests.bench.rows.ratios import Ratio, compare

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

__all__ = ["rows"]

CELLS, EDGES = 1_000_000, 1_000_000
VALUE = 12  # bytes per changed score: 4 for the cell's row number, 8 for the score


def rows() -> Iterator[Ratio]:
    size = f"a store of {CELLS:,} cells"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.sqlite"
        tick(graph(CELLS, EDGES), 1.0).save(path, t=1.0)
        with Store(path) as store:
            store.tick(2.0)
            yield _growth(store, path, size)
            days = itertools.count(4)
            whole = partial(_law, store.connection)
            size_of = f"{size}, against fetching what a tick reads"
            yield compare(f"a tick of {size_of}", lambda: store.tick(float(next(days))), whole, limit=2.0, repeats=1)
            yield compare(f"a push on {size_of}", store.mini_index, whole, limit=0.1, repeats=1)
            handle = store.connection.execute('SELECT handle FROM cells WHERE "row" = 77').fetchone()[0]
            yield compare(f"one cell of {size_of}", partial(store.about, handle), whole, limit=0.05, repeats=1)
            claims = ({"writer": "w1", "title": f"new {i}", "confidence": 0.5} for i in itertools.count())
            yield compare(f"a claim into {size_of}", lambda: store.admit([next(claims)]), whole, limit=0.05, repeats=1)


def _law(connection: sqlite3.Connection) -> object:
    tables = (("cells", LAW_CELLS), ("edges", LAW_EDGES))
    return [connection.execute(f"SELECT {', '.join(kinds)} FROM {table}").fetchall() for table, kinds in tables]  # noqa: S608


def _growth(store: Store, path: Path, size: str) -> Ratio:
    _checkpoint(store)
    before = path.stat().st_size
    store.tick(3.0)
    _checkpoint(store)
    query = "SELECT sum(length(data)) / 8 FROM past_scores WHERE until = (SELECT max(until) FROM past_scores)"
    moved = store.connection.execute(query).fetchone()[0]
    grown = (path.stat().st_size - before) / before
    name = f"growth of {size} by a tick, against what moved"
    return Ratio(name=name, ours=grown, theirs=moved * VALUE / before, limit=1.1, unit="%")


def _checkpoint(store: Store) -> None:
    store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
