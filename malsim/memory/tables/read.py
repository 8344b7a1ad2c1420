"""Read a store's tables as a memory, and the history of its writes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.base.finite import is_number
from malsim.memory import schema
from malsim.memory.graph.claim_graph import Memory
from malsim.memory.graph.frames import to_series
from malsim.memory.graph.table import Table
from malsim.memory.graph.texts import content_of, folded
from malsim.memory.tables.layout import CELLS, SCORES, STORED, TICKS, DamagedRowsError, check_rows, is_date
from malsim.memory.tables.rows import select, select_arrays
from malsim.memory.tables.scores import clock_at, decode, read_scores, with_scores

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from malsim.memory.tables.rows import Kinds


def present(connection: sqlite3.Connection) -> Memory:
    cells = rows_present(connection)
    cells = with_scores(cells, read_scores(connection, cells.height), clock_at(connection)).select(list(CELLS))
    wires, authors = edges(connection), writers(connection)
    return Memory(whole(cells), wires, authors, check_rows(cells, wires, authors, last_scanned(connection)))


_LAW = (
    "rep", "kind", "author", "stated", "c0", "salience_seed", "stability", "pinned", "status", "successor", "created",
    "touched", "read", "origin", "verification",
)  # fmt: skip
LAW_CELLS = {name: STORED[name] for name in _LAW}
"""What a tick reads of cells beside their scores."""
LAW_EDGES = {name: schema.EDGES[name] for name in ("source", "relation", "target", "weight")}


def numbers(connection: sqlite3.Connection, rows: Callable[[str], pl.DataFrame]) -> Memory:
    """Return the memory after the last write, loading only the columns that a tick reads.

    `rows` reads all of `cells` or `edges`, as they are now, when more is asked for.
    """
    cells, wires = select_arrays(connection, "cells", LAW_CELLS), select_arrays(connection, "edges", LAW_EDGES)
    cells |= decode(read_scores(connection, len(cells["rep"])), cells.__getitem__, clock_at(connection))
    authors = writers(connection)
    scanned = check_rows(_to_check(cells), _to_check(wires), authors, last_scanned(connection))
    standing, joins = Table.lazy(cells, partial(rows, "cells")), Table.lazy(wires, partial(rows, "edges"))
    return Memory(standing, joins, authors, scanned)


def _to_check(table: Mapping[str, NDArray[Any]]) -> pl.DataFrame:
    return pl.DataFrame([to_series(name, table[name]) for name in _CHECKED if name in table])


_CHECKED = ("author", "successor", "source", "target", "weight", *SCORES)


def rows_present(connection: sqlite3.Connection, names: Iterable[str] = STORED) -> pl.DataFrame:
    kinds = {name: STORED[name] for name in names}
    return select(connection, f'SELECT {columns_in(kinds)} FROM cells ORDER BY "row"', kinds)


def columns_in(names: Iterable[str] = STORED) -> str:
    return ", ".join(f'"{name}"' for name in names)


def writers(connection: sqlite3.Connection) -> pl.DataFrame:
    return _table(connection, "writers", schema.WRITERS)


def height(connection: sqlite3.Connection, table: str) -> int:
    return int(connection.execute(f'SELECT coalesce(max("row") + 1, 0) FROM {table}').fetchone()[0])


def cells_by_rep(connection: sqlite3.Connection) -> dict[int, int]:
    ends = (
        "SELECT (SELECT min(rep) FROM cells), (SELECT max(rep) FROM cells)"  # each of one index, which both at once are not
    )
    first, last = connection.execute(ends).fetchone()
    if first == last:
        return {} if first is None else {first: height(connection, "cells")}
    return dict(connection.execute("SELECT rep, count(*) FROM cells GROUP BY rep").fetchall())


def edges(connection: sqlite3.Connection) -> pl.DataFrame:
    return _table(connection, "edges", schema.EDGES)


def last_deed(connection: sqlite3.Connection) -> tuple[int, int, int]:
    row = connection.execute('SELECT "row", cells, edges FROM ticks ORDER BY "row" DESC LIMIT 1').fetchone()
    return row or (0, 0, 0)


def last_scanned(connection: sqlite3.Connection) -> Any:
    row = connection.execute('SELECT scanned FROM ticks ORDER BY "row" DESC LIMIT 1').fetchone()
    return row[0] if row else 0


def ticks(connection: sqlite3.Connection) -> pl.DataFrame:
    return _table(connection, "ticks", {"row": pl.Int64, **TICKS})


def verdicts(connection: sqlite3.Connection) -> pl.DataFrame:
    return _table(connection, "verdicts", schema.VERDICTS)


def last_day(connection: sqlite3.Connection) -> float | None:
    row = connection.execute('SELECT t FROM ticks ORDER BY "row" DESC LIMIT 1').fetchone()
    if row and not is_number(row[0]):
        raise DamagedRowsError("t")
    return row[0] if row else None


def moved_replications(connection: sqlite3.Connection, among: Iterable[int]) -> set[int]:
    """Return the replications, among those given, with claims admitted since the last tick; see `law_steps.moved`."""
    unseen = 'EXISTS (SELECT 1 FROM unseen JOIN cells ON "row" = cell WHERE +rep = ?1)'
    edges = 'EXISTS (SELECT 1 FROM edges AS e JOIN cells AS c ON c."row" = e.target WHERE e."row" >= ?2 AND +rep = ?1)'
    query, scanned = f"SELECT {unseen} OR {edges}", last_scanned(connection)
    return {rep for rep in among if connection.execute(query, (rep, scanned)).fetchone()[0]}


def start(connection: sqlite3.Connection) -> str | None:
    row = connection.execute("SELECT value FROM meta WHERE name = 'start'").fetchone()
    if row and not is_date(row[0]):
        raise DamagedRowsError("start")
    return row[0] if row else None


def updates(connection: sqlite3.Connection) -> pl.DataFrame:
    kinds = {"t": pl.Float64, "row": pl.Int64, "field": pl.String, "writer": pl.String}
    query = """SELECT t, cell, field, writer FROM rewritten JOIN ticks ON ticks."row" = rewritten.until
               ORDER BY rewritten.until, cell, field"""
    return select(connection, query, kinds)


def names_of(kinds: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in kinds)


def _table(connection: sqlite3.Connection, name: str, kinds: Kinds) -> pl.DataFrame:
    return select(connection, f'SELECT {names_of(kinds)} FROM {name} ORDER BY "row"', kinds)


def whole(cells: pl.DataFrame) -> pl.DataFrame:
    content = content_of(pl.col("kind").cast(pl.String), folded(pl.col("title"))).alias("content")
    return cells.with_columns(content).select(list(schema.CELLS))
