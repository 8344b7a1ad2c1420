"""Functions that write a memory, or the difference between two memories, to the tables of a store."""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory import schema
from malsim.memory.graph.tombstones import ERASED, TEXTS
from malsim.memory.tables import scores
from malsim.memory.tables.layout import INDEXES, MOVING, RECORD, STORED
from malsim.memory.tables.read import StorePart, last_day, renumbered, within
from malsim.memory.tables.rows import insert, update
from malsim.memory.tables.search import index_contents, index_words, make_contents

if TYPE_CHECKING:
    import sqlite3

    from malsim.memory.graph.arrays import Bools, Ints
    from malsim.memory.graph.claim_graph import Memory
    from malsim.memory.tables.scores import Clock

CLAIMED = (
    "rep", "key", "handle", "kind", "writer", "author", "object", "title", "value", "value_text", "claimed", "created",
)  # fmt: skip


def extends(new: Memory, old: Memory) -> bool:
    """Return whether `new` was derived from `old` and therefore begins with the same claims, edges and writers."""
    if new.height < old.height or (new.column("touched")[: old.height] < old.column("touched")).any():
        return False
    same = not set(_changeable(old, new)) & set(CLAIMED)
    same = same or _claimed(new, old.height, new).equals(_claimed(old, old.height, new))
    for table, names in (("edges", tuple(schema.EDGES)), ("writers", ("rep", "writer"))):
        before, after = old.table(table), new.table(table)
        if same and after.rows is not before.rows:
            first = after.frame.head(before.height).select(names)
            same = first.equals(before.frame.select(names))
    return same


def _changeable(old: Memory, new: Memory) -> list[str]:
    """Return the names of the cell columns that may differ between two memories, without comparing values."""
    ours, theirs = old.table("cells"), new.table("cells")
    if ours.rows is not theirs.rows:
        return list(STORED)
    stale = ours.stale | theirs.stale
    return [name for name in STORED if name in stale and ours.columns.get(name) is not theirs.columns.get(name)]


def _claimed(memory: Memory, height: int, new: Memory) -> pl.DataFrame:
    """Return the claimed fields of the first `height` cells, without the texts of cells that are erased in `new`."""
    erased = new.cells.head(height).select((pl.col("title") == ERASED) & pl.col("rejected").is_not_null()).to_series()
    claimed = memory.cells.head(height).select(CLAIMED)
    return claimed.with_columns(pl.when(~erased).then(name).alias(name) for name in set(CLAIMED) & set(TEXTS))


def write(
    connection: sqlite3.Connection, old: Memory, new: Memory, *, t: float, deed: str, writer: str | None = None,
    part: StorePart | None = None, clock: Clock | None = None,
) -> None:  # fmt: skip
    """Update the tables from `old` to `new`, dated day `t` or the day of the last write, whichever is later.

    Replaced values are kept as valid until then. `writer` is the named author of the write. With a `part` of a store, `old`
    is its memory. `clock` is that of a tick.
    """
    number = connection.execute('SELECT coalesce(max("row"), 0) FROM ticks').fetchone()[0] + 1
    part = part or StorePart.of(old)
    indices, height, edges = part.store_rows(new), old.height, new.table("edges").height - old.table("edges").height
    make_contents(connection)
    before = scores.clock_at(connection)
    if clock:
        connection.execute("INSERT INTO clocks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (number, *astuple(clock)))
    moved = scores.rewrite(connection, old, new, part.rows, number, (before, clock or before))
    if names := _changeable(old, new):
        old_cells, new_cells = (renumbered(memory.cells, indices, "successor") for memory in (old, new))
        moved |= _rewrite_cells(connection, old_cells, new_cells.head(height), part.rows, number, names)
    if new.height > height:
        _add(connection, "cells", renumbered(new.cells.slice(height), indices, "successor"), part.cells)
    if edges:
        _add(connection, "edges", renumbered(new.edges.slice(old.edges.height), indices, "source", "target"), part.edges)
    _rewrite_writers(connection, old.writers, new.writers, number)
    for statement in INDEXES:
        connection.execute(statement)
    scanned = new.scanned if part.scanned is None else part.scanned
    heights = part.cells + new.height - height, part.edges + edges
    values = (number, max(t, last_day(connection) or t), deed, *heights, scanned, int(moved.sum()), writer)
    connection.execute(f"INSERT INTO ticks VALUES ({', '.join('?' * len(values))})", values)


def _add(connection: sqlite3.Connection, table: str, rows: pl.DataFrame, first: int) -> None:
    names = list(STORED) if table == "cells" else rows.columns
    insert(connection, table, rows.select(names).with_row_index("row", offset=first))
    if table == "cells" and rows.height:
        scores.add(connection, rows, first)
        index_words(connection, f'"row" >= {first}')
        index_contents(connection, f'"row" >= {first}')


def latest_day(memory: Memory) -> float:
    """Return the latest day on which a cell was created, touched or read, or an edge was written, or 0 if there is none."""
    days = [memory.cells[name].max() for name in ("created", "touched", "read")] + [memory.edges["t"].max()]
    return max((day for day in days if isinstance(day, float)), default=0.0)


def log_verdicts(connection: sqlite3.Connection, verdicts: pl.DataFrame) -> None:
    insert(connection, "verdicts", verdicts.select(list(schema.VERDICTS)))


def _rewrite_cells(
    connection: sqlite3.Connection, old: pl.DataFrame, new: pl.DataFrame, rows: Ints, deed: int, names: list[str]
) -> Bools:
    """Update the cells that differ in these columns, and return a mask of these cells."""
    differs = {name: mask for name in names if (mask := _differs(old[name], new[name])).any()}
    moving = [name for name in differs if name in MOVING]
    rewritten = {name: mask for name, mask in differs.items() if name not in MOVING}
    if moving:
        mask = np.logical_or.reduce([differs[name] for name in moving])
        moved = pl.Series("cell", rows[mask])
        past = old.filter(pl.Series(mask)).select(moved, pl.lit(deed).alias("until"), *MOVING)
        insert(connection, "past", past)
        update(connection, "cells", new.filter(pl.Series(mask)).select(moved.alias("row"), *moving))
    if rewritten:
        _rewrite_fields(connection, old, new, rows, rewritten, deed)
    changed: Bools = np.logical_or.reduce([np.zeros(len(rows), dtype=bool), *differs.values()])
    return changed


def _rewrite_fields(
    connection: sqlite3.Connection, old: pl.DataFrame, new: pl.DataFrame, rows: Ints, differs: dict[str, Bools], deed: int
) -> None:
    """Keep the replaced value of each field as JSON, store the new value, and update the word index of the cells."""
    condition = within('"row"', rows[np.logical_or.reduce(list(differs.values()))].tolist())
    for index in (index_words, index_contents):
        index(connection, condition, remove=True)
    for name, mask in differs.items():
        changed, replaced = pl.Series("row", rows[mask]), pl.struct(pl.col(name).alias("x")).struct.json_encode()
        past = old.filter(pl.Series(mask)).select(cell=changed, until=pl.lit(deed), field=pl.lit(name), value=replaced)
        insert(connection, "rewritten", past)
        update(connection, "cells", new.filter(pl.Series(mask)).select(changed, name))
    for index in (index_words, index_contents):
        index(connection, condition)


def _rewrite_writers(connection: sqlite3.Connection, old: pl.DataFrame, new: pl.DataFrame, deed: int) -> None:
    same = new.head(old.height)
    changed = pl.Series(np.logical_or.reduce([_differs(old[name], same[name]) for name in RECORD]))
    rows = pl.Series("row", np.flatnonzero(changed.to_numpy()))
    if len(rows):
        insert(connection, "records", old.filter(changed).select(rows.alias("writer"), pl.lit(deed).alias("until"), *RECORD))
        update(connection, "writers", same.filter(changed).select(rows, *RECORD))
    insert(connection, "writers", new.slice(old.height).with_row_index("row", offset=old.height))


def _differs(old: pl.Series, new: pl.Series) -> Bools:
    return np.zeros(len(old), dtype=bool) if _same(old, new) else old.ne_missing(new).to_numpy()


def _same(old: pl.Series, new: pl.Series) -> bool:
    if isinstance(old.dtype, pl.List):
        return _same(old.list.len(), new.list.len()) and _same(old.explode(), new.explode())
    return old.equals(new, null_equal=True)
