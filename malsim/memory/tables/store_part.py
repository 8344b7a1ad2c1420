"""Part of a store as a memory: some cells, the edges among them, and their rows in the file."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory import schema
from malsim.memory.graph.claim_graph import Memory
from malsim.memory.graph.index import Index
from malsim.memory.schema import NONE
from malsim.memory.tables.layout import CELLS, STORED, DamagedRowsError, check_rows
from malsim.memory.tables.read import cells_by_rep, columns_in, height, last_scanned, names_of, whole, writers
from malsim.memory.tables.rows import select
from malsim.memory.tables.scores import clock_at, read_scores, with_scores

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from malsim.memory.graph.arrays import Ints


@dataclass(frozen=True)
class StorePart:
    """Partial memory with the store row of each of its cells, and the total numbers of cells and edges.

    `scanned` is how many edges the last tick of the store saw; None where the memory is the whole store and knows that.
    """

    memory: Memory
    rows: Ints
    cells: int
    edges: int
    scanned: int | None = None

    @classmethod
    def of(cls, memory: Memory) -> StorePart:
        return cls(memory, np.arange(memory.height), memory.height, memory.table("edges").height)

    def places(self, after: Memory) -> Ints:
        new = np.arange(self.cells, self.cells + after.height - len(self.rows))
        return np.concatenate([self.rows, new])

    def local(self, rows: Ints) -> Ints:
        indices: Ints = np.searchsorted(self.rows, rows)
        if not np.array_equal(self.rows[np.minimum(indices, len(self.rows) - 1)], rows):
            raise DamagedRowsError("row")
        return indices


def named_so(frame: pl.DataFrame, rows: Ints, *columns: str) -> pl.DataFrame:
    numbers = pl.Series(rows, dtype=pl.Int64)
    return frame.with_columns(numbers.gather(frame[name]).alias(name) for name in columns)


def within(column: str, rows: Iterable[int | str]) -> str:
    values = json.dumps(list(rows), ensure_ascii=False).replace("'", "''")
    return f"{column} IN (SELECT value FROM json_each('{values}'))"


def heirs_of(connection: sqlite3.Connection, rows: Iterable[int]) -> list[int]:
    query = """WITH RECURSIVE line (cell) AS (SELECT value FROM json_each(?) UNION
        SELECT successor FROM cells JOIN line ON "row" = cell WHERE successor IS NOT NULL) SELECT cell FROM line"""
    return [row for (row,) in connection.execute(query, (json.dumps(list(rows)),))]


def part_of(connection: sqlite3.Connection, rows: Iterable[int], names: Iterable[str] = STORED) -> StorePart:
    """Return these cells and their successors, with every edge among them and all writers.

    `names` restricts the columns, for example to `read.LAW_CELLS`.
    """
    columns = {"row": pl.Int64, **{name: STORED[name] for name in names}}
    present = columns_in(names)
    query = f"""SELECT "row", {present} FROM cells WHERE {within('"row"', heirs_of(connection, rows))} ORDER BY "row\""""
    numbered = select(connection, query, columns)
    here = numbered["row"].to_numpy()
    ends = within("source", here.tolist()) + " AND " + within("+target", here.tolist())
    kinds = {"row": pl.Int64, **schema.EDGES}
    among = select(connection, f'SELECT {names_of(kinds)} FROM edges WHERE {ends} ORDER BY "row"', kinds)
    scanned_edges = last_scanned(connection)
    if not isinstance(scanned_edges, int):
        raise DamagedRowsError("scanned")
    part = StorePart(Memory.empty(), here, height(connection, "cells"), height(connection, "edges"), scanned_edges)
    raw = read_scores(connection, part.cells, here)
    scored = with_scores(numbered, raw, clock_at(connection))
    cells = scored.select(name for name in CELLS if name in scored.columns).with_columns(_local(part, numbered["successor"]))
    edges = among.drop("row").with_columns(_local(part, among[name]) for name in ("source", "target"))
    authors = writers(connection)
    scanned = int((among["row"] < scanned_edges).sum())
    check_rows(cells, edges, authors, scanned)
    memory = Memory(whole(cells) if "title" in cells.columns else cells, edges, authors, scanned)
    return replace(part, memory=memory)


def _local(part: StorePart, rows: pl.Series) -> pl.Series:
    named = rows.is_not_null()
    indices = np.full(len(rows), NONE)
    indices[named.to_numpy()] = part.local(rows.filter(named).to_numpy())
    return pl.Series(rows.name, indices, dtype=pl.Int64).set(~named, None)


def know_of_others(connection: sqlite3.Connection, memory: Memory) -> None:
    """Tell the index of the part how many cells each replication has outside it; new cells are named by their position."""
    own = dict(memory.cells.group_by("rep").len().rows())
    elsewhere = {rep: count - own.get(rep, 0) for rep, count in cells_by_rep(connection).items()}
    memory.derived.index = Index(memory.table("cells").rows, memory.table("writers").rows, elsewhere)
