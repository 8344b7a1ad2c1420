"""Which rows bear a key that another bears later, and what each is called: settled in a scratch database, not in memory."""

from __future__ import annotations

import sqlite3
from itertools import chain, groupby
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.importers.building.completed_rows import digests_of, free_handle
from malsim.memory.tables.connect import refusing, transaction

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["KeyIndex"]

_TABLES = (
    "CREATE TABLE names (row INTEGER PRIMARY KEY, tag INTEGER, digest BLOB, kind TEXT)",
    "CREATE TABLE settled (row INTEGER PRIMARY KEY, handle TEXT)",  # no handle: a later row bears the same key
    "CREATE TABLE edges (row INTEGER PRIMARY KEY, source BLOB, relation TEXT, target BLOB, weight REAL)",
)
_MET = """SELECT tag, row, digest, kind FROM names
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
        numbered = range(self.height, self.height + len(digests))
        ends = digests_of(edges["source"]), edges["relation"], digests_of(edges["target"]), edges["weight"]
        with refusing(self._path), transaction(self._file):
            self._insert("names", zip(numbered, tags, digests, kinds, strict=True))
            self._insert("edges", ((None, *edge) for edge in zip(*ends, strict=True)))
        self.height += len(digests)
        self.edges += edges.height

    def settle(self) -> int:
        """Settle which rows stand and what they are called; returns how many do not stand."""
        with refusing(self._path), transaction(self._file):
            self._file.execute("CREATE INDEX by_tag ON names (tag)")
            self._insert("settled", _settled(self._file.execute(_MET)))
            return int(self._file.execute("SELECT count(*) FROM settled WHERE handle IS NULL").fetchone()[0])

    def standing(self, rows: pl.DataFrame, first: int) -> pl.DataFrame:
        """Of rows, added as those from `first` on, the ones that stand, with the column handle where they have it."""
        with refusing(self._path):
            query = "SELECT row, handle FROM settled WHERE row >= ? AND row < ? ORDER BY row"
            held = self._file.execute(query, (first, first + rows.height)).fetchall()
        if not held:
            return rows
        told = pl.DataFrame(held, schema={"row": pl.Int64, "told": pl.String}, orient="row")
        found = rows.with_row_index("row", offset=first).cast({"row": pl.Int64})
        found = found.join(told.with_columns(met=True), on="row", how="left", maintain_order="left")
        found = found.filter(pl.col("met").is_null() | pl.col("told").is_not_null())
        if "handle" in rows.columns:
            found = found.with_columns(pl.coalesce("told", "handle").alias("handle"))
        return found.drop("row", "told", "met")

    def ends(self) -> pl.DataFrame:
        """Edges (relation, weight, source, target) between the places of rows among those that stand, −1 for no row.

        Of edges told twice the last counts.
        """
        with refusing(self._path), transaction(self._file):
            gone = [row for (row,) in self._file.execute("SELECT row FROM settled WHERE handle IS NULL ORDER BY row")]
            self._file.execute("DELETE FROM names WHERE row IN (SELECT row FROM settled WHERE handle IS NULL)")
            self._file.execute("CREATE INDEX by_digest ON names (digest)")
            found = pl.DataFrame(self._file.execute(_ENDS).fetchall(), schema=_ENDS_KINDS, orient="row")
        left = np.array(gone, dtype=np.int64)
        return found.with_columns(_moved_up(found[name], left) for name in ("source", "target"))

    def _insert(self, table: str, rows: Iterable[tuple[object, ...]]) -> None:
        given = iter(rows)
        if (row := next(given, None)) is not None:
            marks = ", ".join("?" * len(row))
            self._file.executemany(f"INSERT INTO {table} VALUES ({marks})", chain([row], given))  # noqa: S608  # our names


def _moved_up(rows: pl.Series, gone: NDArray[np.int64]) -> pl.Series:
    """Where rows are once those that are gone are left out."""
    places = rows.to_numpy()
    return pl.Series(rows.name, np.where(places < 0, places, places - np.searchsorted(gone, places)))


def _settled(rows: Iterable[tuple[int, int, bytes, str]]) -> Iterator[tuple[int, str | None]]:
    """Rows (tag, row, digest, kind) in order, with the handle of the last of each key, None of those before it."""
    for _, met in groupby(rows, itemgetter(0)):
        last, taken = dict[bytes, tuple[int, str]](), set[str]()
        for _tag, row, digest, kind in met:
            if digest in last:
                yield last[digest][0], None
            last[digest] = row, free_handle(kind, digest, taken)
        yield from last.values()
