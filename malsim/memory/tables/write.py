"""Write a memory, or the difference between two, into the tables of a store, and keep the replaced values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory import schema
from malsim.memory.graph.tombstones import ERASED, TEXTS
from malsim.memory.tables import scores
from malsim.memory.tables.contents import index_contents, make_contents
from malsim.memory.tables.layout import INDEXES, MOVING, RECORD, STORED
from malsim.memory.tables.read import last_day
from malsim.memory.tables.rows import insert, update
from malsim.memory.tables.store_part import StorePart, named_so

if TYPE_CHECKING:
    import sqlite3

    from malsim.memory.graph.arrays import Bools, Ints
    from malsim.memory.graph.claim_graph import Memory
    from malsim.memory.graph.table import Table
    from malsim.memory.tables.scores import Clock

CLAIMED = (
    "rep",
    "key",
    "handle",
    "kind",
    "writer",
    "author",
    "object",
    "title",
    "value",
    "value_text",
    "claimed",
    "created",
)


def extends(new: Memory, old: Memory) -> bool:
    if new.height < old.height or (new.column("touched")[: old.height] < old.column("touched")).any():
        return False
    pairs = (("edges", tuple(schema.EDGES)), ("writers", ("rep", "writer")))
    same = not set(_may_differ(old, new)) & set(CLAIMED)
    same = same or _claimed(new, old.height, of=new).equals(_claimed(old, old.height, of=new))
    return same and all(_begins(new.table(name), old.table(name), names) for name, names in pairs)


def _begins(new: Table, old: Table, names: tuple[str, ...]) -> bool:
    if new.rows is old.rows:
        return True
    return new.height >= old.height and new.frame.head(old.height).select(names).equals(old.frame.select(names))


def _may_differ(old: Memory, new: Memory) -> list[str]:
    ours, theirs = old.table("cells"), new.table("cells")
    if ours.rows is not theirs.rows:
        return list(STORED)
    stale = ours.stale | theirs.stale
    return [name for name in STORED if name in stale and ours.columns.get(name) is not theirs.columns.get(name)]


def _claimed(memory: Memory, height: int, *, of: Memory) -> pl.DataFrame:
    erased = of.cells.head(height).select((pl.col("title") == ERASED) & pl.col("rejected").is_not_null()).to_series()
    claimed = memory.cells.head(height).select(CLAIMED)
    return (
        claimed.with_columns(pl.when(~erased).then(name).alias(name) for name in set(CLAIMED) & set(TEXTS))
        if erased.any()
        else claimed
    )


def write(
    connection: sqlite3.Connection, old: Memory, new: Memory, *, t: float, deed: str, writer: str | None = None,
    part: StorePart | None = None, clock: Clock | None = None,
) -> None:  # fmt: skip
    """Change the tables from `old` to `new`, dated day `t` or the last write, whichever is later.

    The values replaced are kept as valid until then; `writer` is whoever did it, where somebody is named. Of a `part` of a
    store, `old` is its memory. `clock` is that of a tick.
    """
    number = connection.execute('SELECT coalesce(max("row"), 0) FROM ticks').fetchone()[0] + 1
    part = part or StorePart.of(old)
    indices, height, edges = part.places(new), old.height, new.table("edges").height - old.table("edges").height
    make_contents(connection)
    before = scores.clock_at(connection)
    if clock:
        scores.keep_clock(connection, number, clock)
    moved = scores.rewrite(connection, old, new, part.rows, number, (before, clock or before))
    if names := _may_differ(old, new):
        old_cells, new_cells = (named_so(memory.cells, indices, "successor") for memory in (old, new))
        moved |= _rewrite_cells(connection, old_cells, new_cells.head(height), part.rows, number, names)
    if new.height > height:
        _add(connection, "cells", named_so(new.cells.slice(height), indices, "successor"), part.cells)
    if edges:
        _add(connection, "edges", named_so(new.edges.slice(old.edges.height), indices, "source", "target"), part.edges)
    _rewrite_writers(connection, old.writers, new.writers, number)
    scanned = new.scanned if part.scanned is None else part.scanned
    heights = part.cells + new.height - height, part.edges + edges
    _log_write(connection, (number, t, deed, *heights, scanned, int(moved.sum()), writer))


def _add(connection: sqlite3.Connection, table: str, rows: pl.DataFrame, first: int) -> None:
    names = list(STORED) if table == "cells" else rows.columns
    insert(connection, table, rows.select(names).with_row_index("row", offset=first))
    if table == "cells" and rows.height:
        scores.add(connection, rows, first)
        index_words(connection, f'"row" >= {first}')
        index_contents(connection, f'"row" >= {first}')


def _log_write(connection: sqlite3.Connection, row: tuple[int, float, str, int, int, int, int, str | None]) -> None:
    for statement in INDEXES:
        connection.execute(statement)
    number, t, *rest = row
    values = (number, max(t, last_day(connection) or t), *rest)
    connection.execute(f"INSERT INTO ticks VALUES ({', '.join('?' * len(values))})", values)


def latest_day(memory: Memory) -> float:
    days = [*_days_in(memory.cells), *_days_in(memory.edges)]
    return max(days, default=0.0)


def _days_in(rows: pl.DataFrame) -> list[float]:
    latest = [rows[name].max() for name in ("created", "touched", "read", "t") if name in rows.columns]
    return [day for day in latest if isinstance(day, float)]


def log_verdicts(connection: sqlite3.Connection, verdicts: pl.DataFrame) -> None:
    insert(connection, "verdicts", verdicts.select(list(schema.VERDICTS)))


def _rewrite_cells(
    connection: sqlite3.Connection, old: pl.DataFrame, new: pl.DataFrame, rows: Ints, deed: int, names: list[str]
) -> Bools:
    """Update the cells that differ in these columns; return a mask of them."""
    differs = {name: mask for name in names if (mask := _differs(old[name], new[name])).any()}
    moving = [name for name in differs if name in MOVING]
    rewritten = {name: mask for name, mask in differs.items() if name not in MOVING}
    if moving:
        here = np.logical_or.reduce([differs[name] for name in moving])
        moved = pl.Series("cell", rows[here])
        past = old.filter(pl.Series(here)).select(moved, pl.lit(deed).alias("until"), *MOVING)
        insert(connection, "past", past)
        update(connection, "cells", new.filter(pl.Series(here)).select(moved.alias("row"), *moving))
    if rewritten:
        _rewrite_fields(connection, old, new, rows, rewritten, deed)
    which: Bools = np.logical_or.reduce([np.zeros(len(rows), dtype=bool), *differs.values()])
    return which


def _rewrite_fields(
    connection: sqlite3.Connection, old: pl.DataFrame, new: pl.DataFrame, rows: Ints, differs: dict[str, Bools], deed: int
) -> None:
    """Keep each replaced field as JSON, set the new one, and index the words of the cell again."""
    touched = rows[np.logical_or.reduce(list(differs.values()))].tolist()
    within = f"""\"row\" IN (SELECT value FROM json_each('{touched}'))"""
    for index in (index_words, index_contents):
        index(connection, within, forget=True)
    for name, here in differs.items():
        moved, at = pl.Series("row", rows[here]), pl.Series(here)
        past = old.filter(at).select(
            moved.alias("cell"),
            pl.lit(deed).alias("until"),
            pl.lit(name).alias("field"),
            pl.struct(pl.col(name).alias("x")).struct.json_encode().alias("value"),
        )
        insert(connection, "rewritten", past)
        update(connection, "cells", new.filter(at).select(moved, name))
    for index in (index_words, index_contents):
        index(connection, within)


def _rewrite_writers(connection: sqlite3.Connection, old: pl.DataFrame, new: pl.DataFrame, deed: int) -> None:
    standing = new.head(old.height)
    here = pl.Series(np.logical_or.reduce([_differs(old[name], standing[name]) for name in RECORD]))
    rows = pl.Series("row", np.flatnonzero(here.to_numpy()))
    if len(rows):
        insert(connection, "records", old.filter(here).select(rows.alias("writer"), pl.lit(deed).alias("until"), *RECORD))
        update(connection, "writers", standing.filter(here).select(rows, *RECORD))
    insert(connection, "writers", new.slice(old.height).with_row_index("row", offset=old.height))


def _differs(old: pl.Series, new: pl.Series) -> Bools:
    return np.zeros(len(old), dtype=bool) if _same(old, new) else old.ne_missing(new).to_numpy()


def _same(old: pl.Series, new: pl.Series) -> bool:
    if isinstance(old.dtype, pl.List):
        return _same(old.list.len(), new.list.len()) and _same(old.explode(), new.explode())
    return old.equals(new, null_equal=True)


def index_words(connection: sqlite3.Connection, where: str, *, forget: bool = False) -> None:
    """Add the words of cells to the full-text index, or remove them; secret cells are never indexed."""
    into, first = ("words (words, rowid, ", "'delete', ") if forget else ("words (rowid, ", "")
    connection.execute(
        f"""INSERT INTO {into}handle, title, tags, summary, body)
            SELECT {first}"row", handle, title, topics || ' ' || entities, summary, body FROM cells
            WHERE {where} AND sensitivity <> 'secret'"""
    )
