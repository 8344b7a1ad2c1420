"""Finding cells of a store by their words, and what a push must know of them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory.tables.rows import select
from malsim.memory.tables.store_part import within

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    Now = Callable[[Sequence[int] | None], Mapping[int, float | None]]

__all__ = ["admitted_since", "as_stored", "candidate_rows", "candidates", "disputes", "outcomes", "stands", "unopened"]

MOST_TERMS = 8
_MAY_READ = """(c.rep = ?2 OR EXISTS (SELECT 1 FROM meta, json_each(meta.value) AS share WHERE meta.name = 'shares'
    AND share.value ->> 0 = c.rep AND share.value ->> 1 = c.object AND share.value ->> 2 = ?2))"""
_CITES = "('supports', 'depends_on', 'derived_from')"
_CANDIDATE: dict[str, pl.DataType | type[pl.DataType]] = {
    "row": pl.Int64, "handle": pl.String, "title": pl.String, "kind": pl.String, "status": pl.String, "rep": pl.Int64,
    "stated": pl.Float64, "effective": pl.Float64, "currency": pl.Float64, "salience": pl.Float64, "touched": pl.Float64,
    "reverify": pl.Float64, "annexed": pl.Boolean, "locked": pl.Boolean, "pinned": pl.Boolean,
    "requires_review": pl.Boolean, "allow_background_use": pl.Boolean, "outgoing": pl.Int64, "incoming": pl.Int64,
    "contradicted": pl.Boolean, "cited": pl.Boolean,
}  # fmt: skip
_DISPUTE: dict[str, pl.DataType | type[pl.DataType]] = {
    "row": pl.Int64, "source": pl.String, "relation": pl.String, "weight": pl.Float64, "target": pl.String,
    "effective": pl.Float64,
}  # fmt: skip
_OUTCOMES: dict[str, pl.DataType | type[pl.DataType]] = {"writer": pl.String, "claims": pl.Int64}


def as_stored(_: Sequence[int] | None) -> Mapping[int, float | None]:
    """Every cell is worth what the last tick gave it.

    What stands in for this says of some rows, or for None of all, what those are worth that a reader sees otherwise.
    """
    return {}


def candidates(
    connection: sqlite3.Connection, query: str, rep: int, pool: int, now: Now
) -> tuple[pl.DataFrame, NDArray[np.float64]]:
    """The best matches that may be shown, and how well each matches (BM25, larger is better)."""
    cells = pl.DataFrame(schema=_CANDIDATE)
    matches: dict[int, float] = {}
    for rows in _matches(connection, query, rep, pool, now):
        matches |= rows
        cells = pl.concat([cells, candidate_rows(connection, list(rows), rep, now)])
        if cells.height >= pool:
            break
    return cells, np.array([matches[row] for row in cells["row"]], dtype=np.float64)


def disputes(connection: sqlite3.Connection, rows: list[int], now: Now) -> list[tuple[str, str, float, str, float | None]]:
    """What active cells hold against these: source, relation, weight, target, and what the source is worth."""
    query = """SELECT s."row", s.handle, e.relation, e.weight, t.handle, s.effective
        FROM json_each(?) AS wanted JOIN edges AS e ON e.target = wanted.value
        JOIN cells AS s ON s."row" = e.source JOIN cells AS t ON t."row" = e.target
        WHERE s.status = 'active' AND s.sensitivity <> 'secret' AND e.relation IN ('contradicts', 'concerns')
        ORDER BY wanted.key, e.rowid"""
    against = _as_seen(select(connection, query, _DISPUTE, (json.dumps(rows),)), now)
    return against.drop("row").drop_nulls("weight").rows()


def _as_seen(cells: pl.DataFrame, now: Now) -> pl.DataFrame:
    """Cells by row, worth what a reader sees of them now."""
    worth_now = now(cells["row"].to_list())
    values = [worth_now.get(row, stored) for row, stored in cells.select("row", "effective").rows()]
    return cells.with_columns(pl.Series("effective", values, dtype=pl.Float64))


def unopened(connection: sqlite3.Connection, handles: Sequence[str], since: float) -> list[str]:
    """Which of these cells nobody opened since a day, in their order."""
    query = """SELECT wanted.value FROM json_each(?) AS wanted JOIN cells AS c ON c.handle = wanted.value
        WHERE +c.rep = 0 AND (c.read IS NULL OR c.read < ?) ORDER BY wanted.key"""
    return [handle for (handle,) in connection.execute(query, (json.dumps(list(handles)), since))]


def admitted_since(connection: sqlite3.Connection, since: float, writer: str) -> int:
    """How many claims of a writer the gate took since a day."""
    query = "SELECT count(*) FROM verdicts WHERE t >= ? AND writer = ? AND verdict <> 'refused'"
    return int(connection.execute(query, (since, writer)).fetchone()[0])


def outcomes(connection: sqlite3.Connection, rows: list[int]) -> list[tuple[str, int]]:
    """The writers of these cells, in their order, with the outcomes that their calibration rests on."""
    query = """SELECT w.writer, w.claims FROM json_each(?) AS wanted JOIN cells AS c ON c."row" = wanted.value
        JOIN writers AS w ON w."row" = c.author ORDER BY wanted.key"""
    return list(dict(select(connection, query, _OUTCOMES, (json.dumps(rows),)).drop_nulls().rows()).items())


def stands(connection: sqlite3.Connection, handle: str, rep: int) -> bool:
    """Whether a cell of this handle stands."""
    query = "SELECT 1 FROM cells WHERE handle = ? AND +rep = ?"  # by the index of handles
    return connection.execute(query, (handle, rep)).fetchone() is not None


def _matches(connection: sqlite3.Connection, query: str, rep: int, pool: int, now: Now) -> Iterator[dict[int, float]]:
    """Rows and how well they match, some at a time, best first."""
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
        at, more = at + more, 4 * more


def _ranked_first(connection: sqlite3.Connection, rep: int, pool: int, now: Now) -> Iterator[dict[int, float]]:
    """Rows by what they are worth now, some at a time: the first few are sought alone, which is faster."""
    effective = "effective"
    if worth_now := now(None):
        connection.create_function("effective_now", 2, worth_now.get, deterministic=True)
        effective = f"""CASE WHEN {within('"row"', worth_now)} THEN effective_now("row", effective) ELSE effective END"""
    query = f"""SELECT "row", ?1 FROM cells AS c WHERE {_MAY_READ} AND sensitivity <> 'secret'
        ORDER BY {effective} DESC, touched DESC, rowid LIMIT ?3"""
    first = connection.execute(query, (0.0, rep, pool)).fetchall()
    if first:
        yield dict(first)
    cursor = connection.execute(f"{query} OFFSET ?4", (0.0, rep, -1, pool))
    while rows := cursor.fetchmany(pool):
        yield dict(rows)


def _expression(query: str) -> str:
    """Any of the query's first words of more than one letter; a word of several parts wants them all."""
    words = [re.findall(r"[^\W_]+", word) for word in re.findall(r"[\w:-]+", query.lower()) if len(word) > 1]
    return " OR ".join(
        f"({' AND '.join(json.dumps(part, ensure_ascii=False) for part in parts)})" for parts in words[:MOST_TERMS] if parts
    )


def candidate_rows(connection: sqlite3.Connection, rows: list[int], rep: int, now: Now) -> pl.DataFrame:
    """What a push must know of cells, in this order, without those that it may not show."""
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
    cells = _as_seen(select(connection, query, _CANDIDATE, (json.dumps(rows), rep)), now)
    return cells.filter((pl.col("status") == "active") | pl.col("cited"))
