"""Which rows bear a key that another bears later, and what each is called: found in a scratch database, not in memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from malsim.importers.building.completed_rows import digests_of, free_handle
from malsim.memory.tables.connect import refusing, transaction

_TABLES = (
    "CREATE TABLE names (row INTEGER PRIMARY KEY, tag INTEGER, digest BLOB, kind TEXT)",
    "CREATE TABLE handles (row INTEGER PRIMARY KEY, handle TEXT)",  # no handle: a later row bears the same key
    "CREATE TABLE edges (row INTEGER PRIMARY KEY, source BLOB, relation TEXT, target BLOB, weight REAL)",
)
_SAME_TAG = """SELECT tag, row, digest, kind FROM names
    WHERE tag IN (SELECT tag FROM names GROUP BY tag HAVING count(*) > 1) ORDER BY tag, row"""
_ENDS = """SELECT relation, weight, coalesce(s.row, -1), coalesce(t.row, -1) FROM edges AS e
    LEFT JOIN names AS s ON s.digest = e.source LEFT JOIN names AS t ON t.digest = e.target
    WHERE e.row IN (SELECT max(row) FROM edges GROUP BY source, relation, target) ORDER BY e.row"""
_TAG = 4  # bytes: two short handles meet where these are the same
_ENDS_KINDS = {"relation": pl.String, "weight": pl.Float64, "source": pl.Int64, "target": pl.Int64}


class KeyIndex:
    """The keys of rows that were added one after the other, by their digests, and the edges between keys.

    Of rows with one key the last stands; handles are those of `completed_rows.with_handles`.
    """

    def __init__(self, path: Path) -> None:
        self.height = self.edges = 0
        self._path = path
        with refusing(path):
            self._file = sqlite3.connect(path, isolation_level=None)
            for statement in ("PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", *_TABLES):
                self._file.execute(statement)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def add(self, digests: list[bytes], kinds: pl.Series, edges: pl.DataFrame) -> None:
        """Add rows by the digests of their keys, and edges (source, relation, target, weight) between keys of any rows."""
        tags = (int.from_bytes(digest[:_TAG], "big") for digest in digests)
        rows = range(self.height, self.height + len(digests))
        ends = digests_of(edges["source"]), edges["relation"], digests_of(edges["target"]), edges["weight"]
        with refusing(self._path), transaction(self._file):
            self._insert("names", zip(rows, tags, digests, kinds, strict=True))
            self._insert("edges", ((None, *edge) for edge in zip(*ends, strict=True)))
        self.height += len(digests)
        self.edges += edges.height

    def settle(self) -> int:
        """Settle which rows stand and what they are called; returns how many do not stand."""
        with refusing(self._path), transaction(self._file):
            self._file.execute("CREATE INDEX by_tag ON names (tag)")
            self._insert("handles", _handles(self._file.execute(_SAME_TAG)))
            return int(self._file.execute("SELECT count(*) FROM handles WHERE handle IS NULL").fetchone()[0])

    def standing(self, rows: pl.DataFrame, first: int) -> pl.DataFrame:
        """Of rows, added as those from `first` on, the ones that stand, with the column handle where they have it."""
        with refusing(self._path):
            query = "SELECT row, handle FROM handles WHERE row >= ? AND row < ? ORDER BY row"
            pairs = self._file.execute(query, (first, first + rows.height)).fetchall()
        if not pairs:
            return rows
        handles = pl.DataFrame(pairs, schema={"row": pl.Int64, "name": pl.String}, orient="row").with_columns(listed=True)
        numbered = rows.with_row_index("row", offset=first).cast({"row": pl.Int64})
        both = numbered.join(handles, on="row", how="left", maintain_order="left")
        both = both.filter(pl.col("listed").is_null() | pl.col("name").is_not_null())
        if "handle" in rows.columns:
            both = both.with_columns(pl.coalesce("name", "handle").alias("handle"))
        return both.drop("row", "name", "listed")

    def ends(self) -> pl.DataFrame:
        """Edges (relation, weight, source, target) between the places of rows among those that stand, −1 for no row.

        Of edges with the same ends and relation the last counts.
        """
        with refusing(self._path), transaction(self._file):
            query = "SELECT row FROM handles WHERE handle IS NULL ORDER BY row"
            replaced = np.array(self._file.execute(query).fetchall(), dtype=np.int64).ravel()
            self._file.execute("DELETE FROM names WHERE row IN (SELECT row FROM handles WHERE handle IS NULL)")
            self._file.execute("CREATE INDEX by_digest ON names (digest)")
            edges = pl.DataFrame(self._file.execute(_ENDS).fetchall(), schema=_ENDS_KINDS, orient="row")
        return edges.with_columns(_renumber(edges[name], replaced) for name in ("source", "target"))

    def _insert(self, table: str, rows: Iterable[tuple[object, ...]]) -> None:
        rest = iter(rows)
        if (row := next(rest, None)) is not None:
            marks = ", ".join("?" * len(row))
            self._file.executemany(f"INSERT INTO {table} VALUES ({marks})", chain([row], rest))  # noqa: S608  # our names


def _renumber(rows: pl.Series, replaced: NDArray[np.int64]) -> pl.Series:
    """Where rows are once those that others replaced are left out."""
    places = rows.to_numpy()
    return pl.Series(rows.name, np.where(places < 0, places, places - np.searchsorted(replaced, places)))


def _handles(rows: Iterable[tuple[int, int, bytes, str]]) -> Iterator[tuple[int, str | None]]:
    """Rows (tag, row, digest, kind) in order, with the handle of the last of each key, None of those before it."""
    for _, same_tag in groupby(rows, itemgetter(0)):
        last, used = dict[bytes, tuple[int, str]](), set[str]()
        for _tag, row, digest, kind in same_tag:
            if digest in last:
                yield last[digest][0], None
            last[digest] = row, free_handle(kind, digest, used)
        yield from last.values()
