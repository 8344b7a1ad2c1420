"""Full-text search in a store, and the values that a push needs of the cells found."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory.tables.layout import STORED
from malsim.memory.tables.read import height
from malsim.memory.tables.rows import select
from malsim.memory.tables.scores import clock_at, read_scores, with_scores

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    Now = Callable[[Sequence[int] | None], Mapping[int, float | None]]

MOST_TERMS = 8
_MAY_READ = """(c.rep = ?2 OR EXISTS (SELECT 1 FROM meta, json_each(meta.value) AS share WHERE meta.name = 'shares'
    AND share.value ->> 0 = c.rep AND share.value ->> 1 = c.object AND share.value ->> 2 = ?2))"""
_CITES = "('supports', 'depends_on', 'derived_from')"
_CANDIDATE: dict[str, pl.DataType | type[pl.DataType]] = {
    "row": pl.Int64, "handle": pl.String, "title": pl.String, "kind": pl.String, "status": pl.String, "rep": pl.Int64,
    "stated": pl.Float64, "c0": pl.Float64, "salience_seed": pl.Float64, "stability": STORED["stability"],
    "touched": pl.Float64, "read": pl.Float64, "reverify": pl.Float64,
    "annexed": pl.Boolean, "locked": pl.Boolean, "pinned": pl.Boolean, "requires_review": pl.Boolean,
    "allow_background_use": pl.Boolean, "outgoing": pl.Int64, "incoming": pl.Int64, "contradicted": pl.Boolean,
    "cited": pl.Boolean,
}  # fmt: skip
_DISPUTE: dict[str, pl.DataType | type[pl.DataType]] = {
    "row": pl.Int64, "source": pl.String, "relation": pl.String, "weight": pl.Float64, "target": pl.String,
}  # fmt: skip
_TOUCHED: dict[str, pl.DataType | type[pl.DataType]] = {"row": pl.Int64, "touched": pl.Float64}


def as_stored(_: Sequence[int] | None) -> Mapping[int, float | None]:
    """Return the stored effective confidence of every cell, as the last tick left it.

    A function in its place returns, for some rows or (None) all, the effective of those that a reader sees differently.
    """
    return {}


def candidates(
    connection: sqlite3.Connection, query: str, rep: int, pool: int, now: Now
) -> tuple[pl.DataFrame, NDArray[np.float64]]:
    parts, matches = list[pl.DataFrame](), dict[int, float]()
    for rows in _matches(connection, query, rep, pool, now):
        matches |= rows
        parts.append(candidate_rows(connection, list(rows), rep, now))
        if sum(part.height for part in parts) >= pool:
            break
    cells = pl.concat(parts) if parts else candidate_rows(connection, [], rep, now)
    return cells, np.array([matches[row] for row in cells["row"]], dtype=np.float64)


def disputes(connection: sqlite3.Connection, rows: list[int], now: Now) -> list[tuple[str, str, float, str, float | None]]:
    query = """SELECT s."row", s.handle, e.relation, e.weight, t.handle
        FROM json_each(?) AS wanted JOIN edges AS e ON e.target = wanted.value
        JOIN cells AS s ON s."row" = e.source JOIN cells AS t ON t."row" = e.target
        WHERE s.status = 'active' AND s.sensitivity <> 'secret' AND e.relation IN ('contradicts', 'concerns')
        ORDER BY wanted.key, e.rowid"""
    against = select(connection, query, _DISPUTE, (json.dumps(rows),))
    if against.is_empty():
        return []
    return _as_seen(connection, against, now, ("effective",)).drop("row").drop_nulls("weight").rows()


def _as_seen(connection: sqlite3.Connection, cells: pl.DataFrame, now: Now, names: tuple[str, ...]) -> pl.DataFrame:
    raw = read_scores(connection, 0, cells["row"].to_numpy(), names)
    cells, worth_now = with_scores(cells, raw, clock_at(connection)), now(cells["row"].to_list())
    values = [worth_now.get(row, stored) for row, stored in cells.select("row", "effective").rows()]
    return cells.with_columns(pl.Series("effective", values, dtype=pl.Float64))


def unopened(connection: sqlite3.Connection, handles: Sequence[str], since: float) -> list[str]:
    query = """SELECT wanted.value FROM json_each(?) AS wanted JOIN cells AS c ON c.handle = wanted.value
        WHERE +c.rep = 0 AND (c.read IS NULL OR c.read < ?) ORDER BY wanted.key"""
    return [handle for (handle,) in connection.execute(query, (json.dumps(list(handles)), since))]


def admitted_since(connection: sqlite3.Connection, since: float, writer: str) -> int:
    query = "SELECT count(*) FROM verdicts WHERE t >= ? AND writer = ? AND verdict <> 'refused'"
    return int(connection.execute(query, (since, writer)).fetchone()[0])


def outcomes(connection: sqlite3.Connection, rows: list[int]) -> list[tuple[str, int]]:
    query = """SELECT w.writer, w.claims FROM json_each(?) AS wanted JOIN cells AS c ON c."row" = wanted.value
        JOIN writers AS w ON w."row" = c.author ORDER BY wanted.key"""
    rows_of_writers = connection.execute(query, (json.dumps(rows),))
    return list({writer: count for writer, count in rows_of_writers if None not in (writer, count)}.items())


def stands(connection: sqlite3.Connection, handle: str, rep: int) -> bool:
    query = "SELECT 1 FROM cells WHERE handle = ? AND +rep = ?"  # by the index of handles
    return connection.execute(query, (handle, rep)).fetchone() is not None


def _matches(connection: sqlite3.Connection, query: str, rep: int, pool: int, now: Now) -> Iterator[dict[int, float]]:
    expression = _expression(query)
    if not expression:
        yield from _ranked_first(connection, rep, pool, now)
        return
    at, more = 0, pool
    while True:
        query = "SELECT rowid, -rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT ? OFFSET ?"
        rows = connection.execute(query, (expression, more, at)).fetchall()
        if not rows:
            return
        yield dict(rows)
        if len(rows) < more:
            return
        at, more = at + more, 4 * more


def _ranked_first(connection: sqlite3.Connection, rep: int, pool: int, now: Now) -> Iterator[dict[int, float]]:
    effective = read_scores(connection, height(connection, "cells"), names=("effective",))["effective"].copy()
    if worth_now := now(None):
        effective[list(worth_now)] = [math.nan if value is None else value for value in worth_now.values()]
    effective[np.isnan(effective)] = -1.0  # what was never given a worth comes last
    above, most = math.inf, pool
    while (below := effective[effective < above]).size:
        index = max(below.size - most, 0)
        least = np.partition(below, index)[index]
        yield from _latest_first(
            connection, rep, pool, effective, np.flatnonzero((effective >= least) & (effective < above))
        )
        above, most = least, 8 * most


def _latest_first(
    connection: sqlite3.Connection, rep: int, pool: int, effective: NDArray[np.float64], rows: NDArray[np.int64]
) -> Iterator[dict[int, float]]:
    few = 8 * len(rows) < len(effective)
    query = f"""SELECT "row", touched FROM cells AS c WHERE {_MAY_READ} AND sensitivity <> 'secret'
        AND {'"row" IN (SELECT value FROM json_each(?1))' if few else "?1 NOTNULL"}"""
    cells = select(connection, query, _TOUCHED, (json.dumps(rows.tolist()) if few else "", rep))
    cells = cells.filter(pl.Series(np.isin(cells["row"].to_numpy(), rows)))
    cells = cells.with_columns(effective=pl.Series(effective[cells["row"].to_numpy()]))
    order = ["effective", "touched", "row"]
    best = cells.sort(order, descending=[True, True, False], nulls_last=True)["row"].to_list()
    for first in range(0, len(best), pool):
        yield dict.fromkeys(best[first : first + pool], 0.0)


def _expression(query: str) -> str:
    words = [re.findall(r"[^\W_]+", word) for word in re.findall(r"[\w:-]+", query.lower()) if len(word) > 1]
    return " OR ".join(
        f"({' AND '.join(json.dumps(part, ensure_ascii=False) for part in parts)})" for parts in words[:MOST_TERMS] if parts
    )


def candidate_rows(connection: sqlite3.Connection, rows: list[int], rep: int, now: Now) -> pl.DataFrame:
    own = ", ".join(f'c."{name}"' for name in list(_CANDIDATE)[:-4])
    edge = (
        'SELECT 1 FROM edges AS e JOIN cells AS s ON s."row" = e.source WHERE e.target = c."row" AND s.status = \'active\''
    )
    query = f"""SELECT {own},
        (SELECT count(*) FROM edges WHERE source = c."row"), (SELECT count(*) FROM edges WHERE target = c."row"),
        EXISTS ({edge} AND e.relation = 'contradicts'), EXISTS ({edge} AND e.relation IN {_CITES})
        FROM json_each(?1) AS wanted JOIN cells AS c ON c."row" = wanted.value WHERE {_MAY_READ} AND c.status <> 'annexed'
        AND NOT (c.locked AND c.pinned AND c.immutable)
        ORDER BY wanted.key"""
    cells = select(connection, query, _CANDIDATE, (json.dumps(rows), rep))
    cells = _as_seen(connection, cells, now, ("effective", "currency", "salience"))
    return cells.filter((pl.col("status") == "active") | pl.col("cited"))
