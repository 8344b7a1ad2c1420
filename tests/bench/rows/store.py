"""Benchmark of a store: time to fetch rows, search for words and insert rows, relative to plain SQLite."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory import Memory
from malsim.memory.push import POOL, push
from malsim.memory.store import Store
from malsim.memory.tables.rows import plain
from tests.bench.rows.memory import WORDS, graph
from tests.bench.rows.ratios import compare

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.bench.rows.ratios import Ratio

__all__ = ["rows"]

CELLS, EDGES = 100_000, 500_000
VOCABULARY = 5_000
QUERY = "word0007 word0123 word4711"


def rows() -> Iterator[Ratio]:
    memory = _with_words(graph(CELLS, EDGES))
    size = f"{CELLS:,} cells / {EDGES:,} edges"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.sqlite"
        memory.save(path)
        name = f"opening {size}, against a bare fetchall"
        yield compare(name, partial(Memory.open, path), partial(_fetch, path), limit=4.0, repeats=3)
        with Store(path, write=False) as store:
            search, pushes = partial(_search, store.connection), partial(push, store.connection, QUERY)
            yield compare(f"a push on {size}, against the bare FTS5 query", pushes, search, limit=5.0, repeats=25)
        tables = {"cells": plain(memory.cells.drop("content")), "edges": memory.edges, "writers": memory.writers}
        ready = {name: (frame.columns, frame.rows()) for name, frame in tables.items()}
        ours, bare = Path(folder) / "ours.sqlite", Path(folder) / "bare.sqlite"
        name = f"saving {size}, against a bare executemany"
        yield compare(name, lambda: _save(memory, ours), lambda: _insert(ready, bare), limit=4.0, repeats=3)


def _with_words(memory: Memory) -> Memory:
    draws = np.random.Generator(np.random.Philox(key=7))
    vocabulary = pl.Series([f"word{i:04d}" for i in range(VOCABULARY)])
    words = vocabulary.gather(draws.integers(0, VOCABULARY, CELLS * WORDS)).reshape((CELLS, WORDS)).cast(pl.List(pl.String))
    return memory.with_cells(memory.cells.with_columns(words.list.join(" ").alias("body")))


def _fetch(path: Path) -> list[list[tuple[object, ...]]]:
    with closing(sqlite3.connect(path)) as connection:
        return [connection.execute(f"SELECT * FROM {table}").fetchall() for table in ("cells", "edges", "writers")]  # noqa: S608


def _search(connection: sqlite3.Connection) -> list[tuple[int, float]]:
    query = "SELECT rowid, rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?"
    return connection.execute(query, (" OR ".join(QUERY.split()), POOL)).fetchall()


def _save(memory: Memory, path: Path) -> None:
    path.unlink(missing_ok=True)
    memory.save(path)


def _insert(tables: dict[str, tuple[list[str], list[tuple[object, ...]]]], path: Path) -> None:
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN")
    for name, (columns, values) in tables.items():
        connection.execute(f"CREATE TABLE {name} ({', '.join(map(repr, columns))})")
        connection.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", values)  # noqa: S608
    connection.execute("COMMIT")
    connection.close()
