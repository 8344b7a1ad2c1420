"""Reader of a store's tables: the memory, complete or partial, and the history of writes."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.finite import is_number
from malsim.memory import schema
from malsim.memory.graph.claim_graph import Memory
from malsim.memory.graph.frames import to_series
from malsim.memory.graph.index import Index
from malsim.memory.graph.table import Table
from malsim.memory.graph.texts import content_of, folded
from malsim.memory.schema import NONE
from malsim.memory.tables.layout import CELLS, SCORES, STORED, TICKS, DamagedRowsError, check_rows, is_date
from malsim.memory.tables.rows import column_list, select, select_arrays
from malsim.memory.tables.scores import clock_at, decode, read_scores, with_scores

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable

    from malsim.memory.graph.arrays import Ints
    from malsim.memory.tables.rows import Kinds


def _table(name: str, kinds: Kinds, connection: sqlite3.Connection) -> pl.DataFrame:
    return select(connection, f'SELECT {column_list(kinds)} FROM {name} ORDER BY "row"', kinds)


rows_present = partial(_table, "cells", STORED)
edges = partial(_table, "edges", schema.EDGES)
writers = partial(_table, "writers", schema.WRITERS)
ticks = partial(_table, "ticks", {"row": pl.Int64, **TICKS})
verdicts = partial(_table, "verdicts", schema.VERDICTS)


def present(connection: sqlite3.Connection) -> Memory:
    cells = rows_present(connection)
    cells = with_scores(cells, read_scores(connection, cells.height), clock_at(connection)).select(list(CELLS))
    links, authors = edges(connection), writers(connection)
    return Memory(with_content(cells), links, authors, check_rows(cells, links, authors, last_scanned(connection)))


_LAW = (
    "rep", "kind", "author", "stated", "c0", "salience_seed", "stability", "pinned", "status", "successor", "created",
    "touched", "read", "origin", "verification",
)  # fmt: skip
LAW_CELLS = {name: STORED[name] for name in _LAW}
"""Columns of cells that a tick reads in addition to the scores."""
LAW_EDGES = {name: schema.EDGES[name] for name in ("source", "relation", "target", "weight")}


def numbers(connection: sqlite3.Connection, rows: Callable[[str], pl.DataFrame]) -> Memory:
    """Return the memory after the last write, loading only the columns that a tick reads.

    `rows` reads the present `cells` or `edges` in full, when another column is needed.
    """
    cells, links = select_arrays(connection, "cells", LAW_CELLS), select_arrays(connection, "edges", LAW_EDGES)
    cells |= decode(read_scores(connection, len(cells["rep"])), cells.__getitem__, clock_at(connection))
    authors = writers(connection)
    cell_frame, edge_frame = (
        pl.DataFrame([to_series(name, table[name]) for name in _CHECKED if name in table]) for table in (cells, links)
    )
    scanned = check_rows(cell_frame, edge_frame, authors, last_scanned(connection))
    return Memory(Table.lazy(cells, partial(rows, "cells")), Table.lazy(links, partial(rows, "edges")), authors, scanned)


_CHECKED = ("author", "successor", "source", "target", "weight", *SCORES)


def height(connection: sqlite3.Connection, table: str) -> int:
    return int(connection.execute(f'SELECT coalesce(max("row") + 1, 0) FROM {table}').fetchone()[0])


def cells_by_rep(connection: sqlite3.Connection) -> dict[int, int]:
    # SQLite answers min and max from an index only if they are separate queries.
    ends = "SELECT (SELECT min(rep) FROM cells), (SELECT max(rep) FROM cells)"
    first, last = connection.execute(ends).fetchone()
    if first == last:
        return {} if first is None else {first: height(connection, "cells")}
    return dict(connection.execute("SELECT rep, count(*) FROM cells GROUP BY rep").fetchall())


def last_scanned(connection: sqlite3.Connection) -> Any:
    row = connection.execute('SELECT scanned FROM ticks ORDER BY "row" DESC LIMIT 1').fetchone()
    return row[0] if row else 0


def last_day(connection: sqlite3.Connection) -> float | None:
    row = connection.execute('SELECT t FROM ticks ORDER BY "row" DESC LIMIT 1').fetchone()
    if row and not is_number(row[0]):
        raise DamagedRowsError("the time of the last tick is not a number")
    return row[0] if row else None


def moved_replications(connection: sqlite3.Connection, among: Iterable[int]) -> set[int]:
    """Return those of the given replications that have admitted claims or edges since the last tick."""
    unseen = 'EXISTS (SELECT 1 FROM unseen JOIN cells ON "row" = cell WHERE +rep = ?1)'
    edges = 'EXISTS (SELECT 1 FROM edges AS e JOIN cells AS c ON c."row" = e.target WHERE e."row" >= ?2 AND +rep = ?1)'
    query, scanned = f"SELECT {unseen} OR {edges}", last_scanned(connection)
    return {rep for rep in among if connection.execute(query, (rep, scanned)).fetchone()[0]}


def start(connection: sqlite3.Connection) -> str | None:
    row = connection.execute("SELECT value FROM meta WHERE name = 'start'").fetchone()
    if row and not is_date(row[0]):
        raise DamagedRowsError("the date of day 0 is invalid")
    return row[0] if row else None


def updates(connection: sqlite3.Connection) -> pl.DataFrame:
    kinds = {"t": pl.Float64, "row": pl.Int64, "field": pl.String, "writer": pl.String}
    query = """SELECT t, cell, field, writer FROM rewritten JOIN ticks ON ticks."row" = rewritten.until
               ORDER BY rewritten.until, cell, field"""
    return select(connection, query, kinds)


def with_content(cells: pl.DataFrame) -> pl.DataFrame:
    content = content_of(pl.col("kind").cast(pl.String), folded(pl.col("title"))).alias("content")
    return cells.with_columns(content).select(list(schema.CELLS))


@dataclass(frozen=True)
class StorePart:
    """Partial memory, with the row of each of its cells in the store, and the number of cells and edges in the whole store.

    `scanned` is the number of edges that the store's last tick read; None if the memory is the whole store and holds it.
    """

    memory: Memory
    rows: Ints
    cells: int
    edges: int
    scanned: int | None = None

    @classmethod
    def of(cls, memory: Memory) -> StorePart:
        return cls(memory, np.arange(memory.height), memory.height, memory.table("edges").height)

    def store_rows(self, after: Memory) -> Ints:
        new = np.arange(self.cells, self.cells + after.height - len(self.rows))
        return np.concatenate([self.rows, new])

    def local(self, rows: Ints) -> Ints:
        indices: Ints = np.searchsorted(self.rows, rows)
        if not np.array_equal(self.rows[np.minimum(indices, len(self.rows) - 1)], rows):
            raise DamagedRowsError("a cell refers to a row that does not exist")
        return indices


def renumbered(frame: pl.DataFrame, rows: Ints, *columns: str) -> pl.DataFrame:
    """Replace each row number in the given columns with the entry at that index in `rows`."""
    numbers = pl.Series(rows, dtype=pl.Int64)
    return frame.with_columns(numbers.gather(frame[name]).alias(name) for name in columns)


def within(column: str, values: Iterable[int | str]) -> str:
    """Return the SQL condition that a column holds one of these values."""
    text = json.dumps(list(values), ensure_ascii=False).replace("'", "''")
    return f"{column} IN (SELECT value FROM json_each('{text}'))"


def part_of(connection: sqlite3.Connection, rows: Iterable[int], names: Iterable[str] = STORED) -> StorePart:
    """Return these cells and all their successors, with every edge between them and with all writers.

    `names` restricts the columns, for example to `read.LAW_CELLS`.
    """
    kinds = {"row": pl.Int64, **{name: STORED[name] for name in names}}
    query = f"""WITH RECURSIVE line (cell) AS (SELECT value FROM json_each(?) UNION
        SELECT successor FROM cells JOIN line ON "row" = cell WHERE successor IS NOT NULL)
        SELECT {column_list(kinds)} FROM cells WHERE "row" IN (SELECT cell FROM line) ORDER BY "row\""""
    numbered = select(connection, query, kinds, (json.dumps(list(rows)),))
    present = numbered["row"].to_numpy()
    ends = within("source", present.tolist()) + " AND " + within("+target", present.tolist())
    kinds = {"row": pl.Int64, **schema.EDGES}
    among = select(connection, f'SELECT {column_list(kinds)} FROM edges WHERE {ends} ORDER BY "row"', kinds)
    scanned_edges = last_scanned(connection)
    if not isinstance(scanned_edges, int):
        raise DamagedRowsError("the number of scanned edges is invalid")
    part = StorePart(Memory.empty(), present, height(connection, "cells"), height(connection, "edges"), scanned_edges)
    raw = read_scores(connection, part.cells, present)
    scored = with_scores(numbered, raw, clock_at(connection))
    cells = scored.select(name for name in CELLS if name in scored.columns).with_columns(_local(part, numbered["successor"]))
    edges = among.drop("row").with_columns(_local(part, among[name]) for name in ("source", "target"))
    authors = writers(connection)
    scanned = int((among["row"] < scanned_edges).sum())
    check_rows(cells, edges, authors, scanned)
    memory = Memory(with_content(cells) if "title" in cells.columns else cells, edges, authors, scanned)
    return replace(part, memory=memory)


def _local(part: StorePart, rows: pl.Series) -> pl.Series:
    given = rows.is_not_null()
    indices = np.full(len(rows), NONE)
    indices[given.to_numpy()] = part.local(rows.filter(given).to_numpy())
    return pl.Series(rows.name, indices, dtype=pl.Int64).set(~given, None)


def count_cells_elsewhere(connection: sqlite3.Connection, memory: Memory) -> None:
    """Store in the memory's index how many cells each replication has outside this part. Handles depend on this number."""
    counts = dict(memory.cells.group_by("rep").len().rows())
    elsewhere = {rep: count - counts.get(rep, 0) for rep, count in cells_by_rep(connection).items()}
    memory.derived.index = Index(memory.table("cells").rows, memory.table("writers").rows, elsewhere)
