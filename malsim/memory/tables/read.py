"""A store's tables as a memory, as it stands or as it stood on a day; and every value that a write replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.base.finite import is_number
from malsim.memory import schema
from malsim.memory.graph.claim_graph import Memory
from malsim.memory.graph.texts import content_of, folded
from malsim.memory.tables.damage import DamagedRowsError, check_rows, is_date
from malsim.memory.tables.layout import CELLS, MOVING, RECORD, TICKS, UNSEEN, missing_columns
from malsim.memory.tables.rows import select

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from malsim.memory.tables.rows import Kinds

__all__ = [
    "columns_in", "height", "holds_news", "last_day", "last_scanned", "past",
    "past_fields", "past_records", "past_scores", "present", "start", "ticks",
    "updates", "verdicts", "whole", "writers",
]  # fmt: skip


def present(connection: sqlite3.Connection) -> Memory:
    """The memory as the last write left it."""
    cells = select(connection, f'SELECT {columns_in(connection)} FROM cells ORDER BY "row"', CELLS)
    edges, authors = _table(connection, "edges", schema.EDGES), writers(connection)
    return Memory(whole(cells), edges, authors, check_rows(cells, edges, authors, last_scanned(connection)))


def columns_in(connection: sqlite3.Connection) -> str:
    """The stored columns of cells for a SELECT; null for those that came after the store was made."""
    missing = missing_columns(connection)
    return ", ".join(f'NULL AS "{name}"' if name in missing else f'"{name}"' for name in CELLS)


def writers(connection: sqlite3.Connection) -> pl.DataFrame:
    """Every writer, with its record."""
    return _table(connection, "writers", schema.WRITERS)


def height(connection: sqlite3.Connection, table: str) -> int:
    """How many cells, or edges, there are."""
    return int(connection.execute(f'SELECT coalesce(max("row") + 1, 0) FROM {table}').fetchone()[0])


def last_scanned(connection: sqlite3.Connection) -> Any:
    """How many edges the last tick saw."""
    row = connection.execute('SELECT scanned FROM ticks ORDER BY "row" DESC LIMIT 1').fetchone()
    return row[0] if row else 0


def past(connection: sqlite3.Connection, day: float) -> Memory:
    """The memory as the last write up to that day left it; of days before the first write, what was created by then."""
    deeds = ticks(connection)
    upto = deeds.filter(pl.col("t") <= day)
    if deeds.is_empty():
        return Memory.empty()
    now, deed = present(connection), (upto.row(-1, named=True) if upto.height else deeds.row(0, named=True))
    cells = _as_of(connection, now.cells.head(deed["cells"]), deed["row"])
    authors = now.writers.head(cells["author"].n_unique())  # each came with a first cell
    authors = _records_as_of(connection, authors, deed["row"])
    then = Memory(whole(cells), now.edges.head(deed["edges"]), authors, deed["scanned"])
    return then if upto.height else _created_by(then, day)


def ticks(connection: sqlite3.Connection) -> pl.DataFrame:
    """Every write on record: row, t (days), deed, the cells, edges and scanned edges after it, cells changed, writer."""
    return _table(connection, "ticks", {"row": pl.Int64, **TICKS})


def verdicts(connection: sqlite3.Connection) -> pl.DataFrame:
    """Every verdict on record (columns of `schema.VERDICTS`), in the order of the gate."""
    return _table(connection, "verdicts", schema.VERDICTS)


def last_day(connection: sqlite3.Connection) -> float | None:
    """The day of the last write; None of a store never written to."""
    row = connection.execute('SELECT t FROM ticks ORDER BY "row" DESC LIMIT 1').fetchone()
    if row and not is_number(row[0]):
        raise DamagedRowsError("t")
    return row[0] if row else None


def holds_news(connection: sqlite3.Connection) -> bool:
    """Whether there may be cells whose effective a reader sees otherwise than the last tick left it."""
    query = f"""SELECT coalesce((SELECT deed FROM ticks ORDER BY "row" DESC LIMIT 1), 'tick') <> 'tick'
        OR EXISTS (SELECT 1 FROM cells WHERE {UNSEEN})"""
    return bool(connection.execute(query).fetchone()[0])


def start(connection: sqlite3.Connection) -> str | None:
    """The date of day 0, where one was given."""
    row = connection.execute("SELECT value FROM meta WHERE name = 'start'").fetchone()
    if row and not is_date(row[0]):
        raise DamagedRowsError("start")
    return row[0] if row else None


def past_scores(connection: sqlite3.Connection) -> pl.DataFrame:
    """Values of cells that time and evidence moved: row, until (a write's number), columns of MOVING."""
    kinds = {"row": pl.Int64, "until": pl.Int64, **{name: CELLS[name] for name in MOVING}}
    return select(connection, f"SELECT cell, until, {_names(MOVING)} FROM past ORDER BY cell, until", kinds)


def past_fields(connection: sqlite3.Connection) -> dict[str, pl.DataFrame]:
    """Fields that somebody rewrote, each by its name: row, until, and the field."""
    kinds = {"row": pl.Int64, "until": pl.Int64, "value": pl.String}
    query = "SELECT cell, until, value FROM rewritten WHERE field = ? ORDER BY cell, until"
    fields = connection.execute("SELECT DISTINCT field FROM rewritten ORDER BY field").fetchall()
    return {
        field: select(connection, query, kinds, (field,)).select("row", "until", _from_json(field)) for (field,) in fields
    }


def past_records(connection: sqlite3.Connection) -> pl.DataFrame:
    """What was on record of writers: row, until, columns of RECORD."""
    kinds = {"row": pl.Int64, "until": pl.Int64, **{name: schema.WRITERS[name] for name in RECORD}}
    return select(connection, f"SELECT writer, until, {_names(RECORD)} FROM records ORDER BY writer, until", kinds)


def updates(connection: sqlite3.Connection) -> pl.DataFrame:
    """Which fields were rewritten, in what order, by whom (null where nobody was named): t (days), row, field, writer."""
    kinds = {"t": pl.Float64, "row": pl.Int64, "field": pl.String, "writer": pl.String}
    query = """SELECT t, cell, field, writer FROM rewritten JOIN ticks ON ticks."row" = rewritten.until
               ORDER BY rewritten.until, cell, field"""
    return select(connection, query, kinds)


def _names(kinds: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in kinds)


def _table(connection: sqlite3.Connection, name: str, kinds: Kinds) -> pl.DataFrame:
    return select(connection, f'SELECT {_names(kinds)} FROM {name} ORDER BY "row"', kinds)


def _from_json(field: str) -> pl.Expr:
    """The values of a rewritten field, which are kept as JSON, as a column of its kind."""
    kind = CELLS[field]
    stored = pl.Struct({"x": pl.String if isinstance(kind, pl.Enum) else kind})
    return pl.col("value").str.json_decode(stored).struct.field("x").cast(kind).alias(field)


def whole(cells: pl.DataFrame) -> pl.DataFrame:
    """Stored columns with the hash of content, which is not stored as it may differ between releases of polars."""
    content = content_of(pl.col("kind").cast(pl.String), folded(pl.col("title"))).alias("content")
    return cells.with_columns(content).select(list(schema.CELLS))


def _as_of(connection: sqlite3.Connection, cells: pl.DataFrame, deed: int) -> pl.DataFrame:
    """Cells with the values that were valid after a write: of each, the earliest that were replaced later."""
    kinds = {"cell": pl.Int64, **{name: CELLS[name] for name in MOVING}}
    query = f"""SELECT {_names(kinds)} FROM past AS p WHERE until =
                (SELECT min(until) FROM past WHERE cell = p.cell AND until > ?)"""
    cells = _with_values(cells, select(connection, query, kinds, (deed,)).rename({"cell": "row"}))
    query = """SELECT cell, field, value FROM rewritten AS r WHERE until =
               (SELECT min(until) FROM rewritten WHERE cell = r.cell AND field = r.field AND until > ?)"""
    fields = select(connection, query, {"row": pl.Int64, "field": pl.String, "value": pl.String}, (deed,))
    for name in fields["field"].unique():
        cells = _with_values(cells, fields.filter(pl.col("field") == name).select("row", _from_json(name)))
    return cells


def _with_values(cells: pl.DataFrame, values: pl.DataFrame) -> pl.DataFrame:
    """Cells with other values in the rows that `values` (row, columns) names."""
    if values.is_empty():
        return cells
    names = [name for name in values.columns if name != "row"]
    numbered = cells.with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))
    aligned = numbered.select("row").join(values, on="row", how="left", maintain_order="left")
    here = aligned["row"].is_in(values["row"].implode())
    return cells.with_columns(
        pl.when(here).then(aligned[name].cast(CELLS[name])).otherwise(pl.col(name)).alias(name) for name in names
    )


def _records_as_of(connection: sqlite3.Connection, writers: pl.DataFrame, deed: int) -> pl.DataFrame:
    kinds = {"row": pl.Int64, **{name: schema.WRITERS[name] for name in RECORD}}
    query = f"""SELECT writer, {_names(RECORD)} FROM records AS p WHERE until =
                (SELECT min(until) FROM records WHERE writer = p.writer AND until > ?)"""
    old = select(connection, query, kinds, (deed,))
    both = writers.with_row_index("row").join(old.cast({"row": pl.UInt32}), on="row", how="left", maintain_order="left")
    return both.select("rep", "writer", *(pl.coalesce(f"{name}_right", name).alias(name) for name in RECORD))


def _created_by(memory: Memory, day: float) -> Memory:
    """What of a memory was there on a day before any write: its cells and edges until then, scores as first written."""
    cells = memory.cells
    here = cells["created"] <= day
    place = (here.cum_sum().cast(pl.Int64) - 1).set(~here, None)
    heir = place.gather(cells["successor"])
    orphan = (cells["status"] == "superseded") & heir.is_null() & cells["successor"].is_not_null()
    status = pl.when(orphan).then(pl.lit("active", schema.CELLS["status"])).otherwise("status").alias("status")
    present = cells.with_columns(heir.alias("successor"), status).filter(here)
    edges = memory.edges.with_columns(place.gather(memory.edges[end]).alias(end) for end in ("source", "target"))
    edges = edges.filter(pl.col("t") <= day).drop_nulls(["source", "target"])
    return Memory(present, edges, memory.writers, edges.height)
