"""Full-text index and checksums of cell texts, and the search behind a push."""

from __future__ import annotations

import json
import math
import re
import zlib
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.files.sqlite_file import holds_table
from malsim.memory.graph.texts import folded
from malsim.memory.tables.layout import STORED
from malsim.memory.tables.read import height
from malsim.memory.tables.rows import insert, select
from malsim.memory.tables.scores import clock_at, read_scores, with_scores

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    WorthNow = Callable[[Sequence[int] | None], Mapping[int, float | None]]

_CONTENTS = "CREATE TABLE contents (number INTEGER, cell INTEGER, PRIMARY KEY (number, cell)) WITHOUT ROWID"
_TEXTS = {"cell": pl.Int64, "title": pl.String, "body": pl.String}
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
    """Replace no scores: return an empty map, so that readers see the effective confidence stored by the last tick.

    Any other `WorthNow` returns, for the given rows (None: all rows), the values that readers see instead of stored ones.
    """
    return {}


def candidates(
    connection: sqlite3.Connection, query: str, rep: int, pool: int, now: WorthNow
) -> tuple[pl.DataFrame, NDArray[np.float64]]:
    parts, matches = list[pl.DataFrame](), dict[int, float]()
    for rows in _matches(connection, query, rep, pool, now):
        matches |= rows
        parts.append(candidate_rows(connection, list(rows), rep, now))
        if sum(part.height for part in parts) >= pool:
            break
    cells = pl.concat(parts) if parts else candidate_rows(connection, [], rep, now)
    return cells, np.array([matches[row] for row in cells["row"]], dtype=np.float64)


def disputes(
    connection: sqlite3.Connection, rows: list[int], now: WorthNow
) -> list[tuple[str, str, float, str, float | None]]:
    query = """SELECT s."row", s.handle, e.relation, e.weight, t.handle
        FROM json_each(?) AS wanted JOIN edges AS e ON e.target = wanted.value
        JOIN cells AS s ON s."row" = e.source JOIN cells AS t ON t."row" = e.target
        WHERE s.status = 'active' AND s.sensitivity <> 'secret' AND e.relation IN ('contradicts', 'concerns')
        ORDER BY wanted.key, e.rowid"""
    against = select(connection, query, _DISPUTE, (json.dumps(rows),))
    if against.is_empty():
        return []
    return _with_scores_now(connection, against, now, ("effective",)).drop("row").drop_nulls("weight").rows()


def _with_scores_now(
    connection: sqlite3.Connection, cells: pl.DataFrame, now: WorthNow, names: tuple[str, ...]
) -> pl.DataFrame:
    raw = read_scores(connection, 0, cells["row"].to_numpy(), names)
    cells, moved = with_scores(cells, raw, clock_at(connection)), now(cells["row"].to_list())
    values = [moved.get(row, stored) for row, stored in cells.select("row", "effective").rows()]
    return cells.with_columns(pl.Series("effective", values, dtype=pl.Float64))


def unopened(connection: sqlite3.Connection, handles: Sequence[str], since: float) -> list[str]:
    query = """SELECT wanted.value FROM json_each(?) AS wanted JOIN cells AS c ON c.handle = wanted.value
        WHERE +c.rep = 0 AND (c.read IS NULL OR c.read < ?) ORDER BY wanted.key"""
    return [handle for (handle,) in connection.execute(query, (json.dumps(list(handles)), since))]


def admitted_since(connection: sqlite3.Connection, since: float, writer: str) -> int:
    query = "SELECT count(*) FROM verdicts WHERE t >= ? AND writer = ? AND verdict <> 'refused'"
    return int(connection.execute(query, (since, writer)).fetchone()[0])


def writer_outcomes(connection: sqlite3.Connection, rows: list[int]) -> list[tuple[str, int]]:
    query = """SELECT w.writer, w.claims FROM json_each(?) AS wanted JOIN cells AS c ON c."row" = wanted.value
        JOIN writers AS w ON w."row" = c.author ORDER BY wanted.key"""
    pairs = connection.execute(query, (json.dumps(rows),))
    return list({writer: count for writer, count in pairs if None not in (writer, count)}.items())


def has_cell(connection: sqlite3.Connection, handle: str, rep: int) -> bool:
    # The + makes SQLite use the index on handles instead of the one on replications and objects.
    query = "SELECT 1 FROM cells WHERE handle = ? AND +rep = ?"
    return connection.execute(query, (handle, rep)).fetchone() is not None


def _matches(connection: sqlite3.Connection, query: str, rep: int, pool: int, now: WorthNow) -> Iterator[dict[int, float]]:
    words = [re.findall(r"[^\W_]+", word) for word in re.findall(r"[\w:-]+", query.lower()) if len(word) > 1]
    expression = " OR ".join(
        f"({' AND '.join(json.dumps(part, ensure_ascii=False) for part in parts)})" for parts in words[:MOST_TERMS] if parts
    )
    if not expression:
        yield from _by_effective(connection, rep, pool, now)
        return
    offset, limit = 0, pool
    while True:
        query = "SELECT rowid, -rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT ? OFFSET ?"
        rows = connection.execute(query, (expression, limit, offset)).fetchall()
        if rows:
            yield dict(rows)
        if len(rows) < limit:
            return
        offset, limit = offset + limit, 4 * limit


def _by_effective(connection: sqlite3.Connection, rep: int, pool: int, now: WorthNow) -> Iterator[dict[int, float]]:
    """Yield the readable cells in order of decreasing effective confidence. Ties are ordered by `touched`, latest first."""
    effective = read_scores(connection, height(connection, "cells"), names=("effective",))["effective"].copy()
    if moved := now(None):
        effective[list(moved)] = [math.nan if value is None else value for value in moved.values()]
    effective[np.isnan(effective)] = -1.0  # sorts cells without a confidence last
    query = f"""SELECT "row", touched FROM cells AS c WHERE {_MAY_READ} AND sensitivity <> 'secret'
        AND "row" IN (SELECT value FROM json_each(?1))"""
    above, most = math.inf, pool
    while (below := effective[effective < above]).size:
        index = max(below.size - most, 0)
        least = np.partition(below, index)[index]
        rows = np.flatnonzero((effective >= least) & (effective < above))
        cells = select(connection, query, _TOUCHED, (json.dumps(rows.tolist()), rep))
        cells = cells.with_columns(effective=pl.Series(effective[cells["row"].to_numpy()]))
        order = ["effective", "touched", "row"]
        best = cells.sort(order, descending=[True, True, False], nulls_last=True)["row"].to_list()
        for first in range(0, len(best), pool):
            yield dict.fromkeys(best[first : first + pool], 0.0)
        above, most = least, 8 * most


def candidate_rows(connection: sqlite3.Connection, rows: list[int], rep: int, now: WorthNow) -> pl.DataFrame:
    columns = ", ".join(f'c."{name}"' for name in list(_CANDIDATE)[:-4])
    edge = (
        'SELECT 1 FROM edges AS e JOIN cells AS s ON s."row" = e.source WHERE e.target = c."row" AND s.status = \'active\''
    )
    query = f"""SELECT {columns},
        (SELECT count(*) FROM edges WHERE source = c."row"), (SELECT count(*) FROM edges WHERE target = c."row"),
        EXISTS ({edge} AND e.relation = 'contradicts'), EXISTS ({edge} AND e.relation IN {_CITES})
        FROM json_each(?1) AS wanted JOIN cells AS c ON c."row" = wanted.value WHERE {_MAY_READ} AND c.status <> 'annexed'
        AND NOT (c.locked AND c.pinned AND c.immutable)
        ORDER BY wanted.key"""
    cells = select(connection, query, _CANDIDATE, (json.dumps(rows), rep))
    cells = _with_scores_now(connection, cells, now, ("effective", "currency", "salience"))
    return cells.filter((pl.col("status") == "active") | pl.col("cited"))


def content_numbers(titles: pl.Series, bodies: pl.Series) -> list[int]:
    """Return one checksum per cell, computed from the normalised title and the body.

    The checksum must not change between releases; collisions are rare.
    """
    texts = pl.DataFrame({"title": titles, "body": bodies}).select(folded(pl.col("title")).fill_null(""), "body")
    return [zlib.crc32((body or "").encode(), zlib.crc32(title.encode())) for title, body in texts.rows()]


def make_contents(connection: sqlite3.Connection) -> None:
    if not holds_table(connection, "contents"):
        connection.execute(_CONTENTS)
        index_contents(connection, "true")


def index_contents(connection: sqlite3.Connection, where: str, *, remove: bool = False) -> None:
    texts = select(connection, f'SELECT "row", title, body FROM cells WHERE {where}', _TEXTS)
    numbers = pl.Series("number", content_numbers(texts["title"], texts["body"]), dtype=pl.Int64)
    contents = pl.DataFrame([numbers, texts["cell"]])
    if remove:
        connection.executemany("DELETE FROM contents WHERE number = ? AND cell = ?", contents.rows())
    else:
        insert(connection, "contents", contents.sort("number"))


def rows_with_content(connection: sqlite3.Connection, numbers: Iterable[int]) -> set[int]:
    query = "SELECT cell FROM contents WHERE number IN (SELECT value FROM json_each(?))"
    return {row for (row,) in connection.execute(query, (json.dumps(list(numbers)),))}


def index_words(connection: sqlite3.Connection, where: str, *, remove: bool = False) -> None:
    """Add the words of cells to the full-text index, or remove them. Secret cells are never indexed."""
    into, first = ("words (words, rowid, ", "'delete', ") if remove else ("words (rowid, ", "")
    connection.execute(
        f"""INSERT INTO {into}handle, title, tags, summary, body)
            SELECT {first}"row", handle, title, topics || ' ' || entities, summary, body FROM cells
            WHERE {where} AND sensitivity <> 'secret'"""
    )
