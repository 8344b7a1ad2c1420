"""Past states of a store's memory, rebuilt from the values that each write replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory import schema
from malsim.memory.graph.claim_graph import Memory
from malsim.memory.graph.frames import to_array, to_series
from malsim.memory.tables.layout import CELLS, MOVING, RECORD, SCORES
from malsim.memory.tables.read import height, present, rows_present, ticks, with_content
from malsim.memory.tables.rows import column_list, select
from malsim.memory.tables.scores import BY_CLOCK_SCORES, clock_at, decode, differs, read_scores, replaced_after, with_scores

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping

    from malsim.memory.graph.arrays import Array, Ints
    from malsim.memory.tables.scores import Clock


def memory_on(connection: sqlite3.Connection, day: float) -> Memory:
    """Return the memory after the last write on or before a day or, if there is none, the cells created by that day."""
    writes = ticks(connection)
    earlier = writes.filter(pl.col("t") <= day)
    if writes.is_empty():
        return Memory.empty()
    now, write = present(connection), (earlier.row(-1, named=True) if earlier.height else writes.row(0, named=True))
    cells = cells_at(connection, write["row"], write["cells"])
    authors = now.writers.head(cells["author"].n_unique())  # writers are stored in the order of their first cells
    authors = _records_as_of(connection, authors, write["row"])
    then = Memory(cells, now.edges.head(write["edges"]), authors, write["scanned"])
    return then if earlier.height else _created_by(then, day)


def cells_at(connection: sqlite3.Connection, deed: int, count: int) -> pl.DataFrame:
    raw = {name: values.copy() for name, values in read_scores(connection, height(connection, "cells")).items()}
    for _, name, rows, values in replaced_after(connection, deed):
        raw[name][rows] = values
    cells = _as_of(connection, rows_present(connection).head(count), deed)
    then = {name: values[: cells.height] for name, values in raw.items()}
    return with_content(with_scores(cells, then, clock_at(connection, deed)).select(list(CELLS)))


def past_cells(connection: sqlite3.Connection) -> pl.DataFrame:
    kinds = {"row": pl.Int64, "until": pl.Int64, **{name: CELLS[name] for name in MOVING}}
    moved = select(connection, f"SELECT cell, until, {column_list(MOVING)} FROM past ORDER BY until, cell", kinds)
    kinds |= {name: CELLS[name] for name in SCORES}
    frames = [
        pl.DataFrame(
            [to_series(name, step[name]) if name in CELLS else pl.Series(name, step[name], pl.Int64) for name in kinds]
        )
        for step in _steps_back(connection, moved)
    ]
    return pl.concat([pl.DataFrame(schema=kinds), *frames]).sort("row", "until", maintain_order=True)


def _steps_back(connection: sqlite3.Connection, moved: pl.DataFrame) -> Iterator[dict[str, Any]]:
    heights = dict(ticks(connection).select("row", "cells").rows())
    clocks = {deed for (deed,) in connection.execute("SELECT deed FROM clocks")}
    replaced = _replaced(connection, moved)
    cells = rows_present(connection)
    raw = {name: values.copy() for name, values in read_scores(connection, cells.height).items()}
    state = {name: to_array(cells[name]).copy() for name in ("stability", *MOVING)} | raw
    for until in sorted(replaced.keys() | clocks, reverse=True):
        aged = _decode_ages(state, clock_at(connection, until)) if until in clocks else {}
        changed = [np.zeros(0, dtype=np.int64)]
        for name, rows, values in replaced.get(until, ()):
            state[name][rows] = values
            changed += [rows] * (name != "stability")
        clock = clock_at(connection, until - 1)
        before = _decode_ages(state, clock) if aged else {}
        changed += [np.flatnonzero(differs(aged[name], before[name])) for name in aged]
        rows = np.unique(np.concatenate(changed))
        rows = rows[rows < heights.get(until - 1, 0)]
        then = {name: column[rows] for name, column in state.items()}
        yield {"row": rows, "until": np.full(len(rows), until), **then, **_decode_ages(then, clock)}


def _decode_ages(state: Mapping[str, Array], clock: Clock | None) -> dict[str, Array]:
    return decode({name: state[name] for name in BY_CLOCK_SCORES}, state.__getitem__, clock)


def _replaced(connection: sqlite3.Connection, moved: pl.DataFrame) -> dict[int, list[tuple[str, Ints, Array]]]:
    replaced: dict[int, list[tuple[str, Ints, Array]]] = {}
    for until, name, rows, values in replaced_after(connection, 0):
        replaced.setdefault(until, []).append((name, rows, values))
    stability = past_fields(connection).get("stability", pl.DataFrame(schema={"until": pl.Int64}))
    for table, names in ((moved, MOVING), (stability, ("stability",))):
        for (until,), group in table.group_by("until"):
            rows = group["row"].to_numpy()
            replaced.setdefault(int(str(until)), []).extend((name, rows, to_array(group[name])) for name in names)
    return replaced


def past_fields(connection: sqlite3.Connection) -> dict[str, pl.DataFrame]:
    kinds = {"row": pl.Int64, "until": pl.Int64, "value": pl.String}
    query = "SELECT cell, until, value FROM rewritten WHERE field = ? ORDER BY cell, until"
    fields = connection.execute("SELECT DISTINCT field FROM rewritten ORDER BY field").fetchall()
    return {
        field: select(connection, query, kinds, (field,)).select("row", "until", _from_json(field)) for (field,) in fields
    }


def past_records(connection: sqlite3.Connection) -> pl.DataFrame:
    kinds = {"row": pl.Int64, "until": pl.Int64, **{name: schema.WRITERS[name] for name in RECORD}}
    return select(connection, f"SELECT writer, until, {column_list(RECORD)} FROM records ORDER BY writer, until", kinds)


def _from_json(field: str) -> pl.Expr:
    kind = CELLS[field]
    stored = pl.Struct({"x": pl.String if isinstance(kind, pl.Enum) else kind})
    return pl.col("value").str.json_decode(stored).struct.field("x").cast(kind).alias(field)


def _as_of(connection: sqlite3.Connection, cells: pl.DataFrame, deed: int) -> pl.DataFrame:
    kinds = {"cell": pl.Int64, **{name: CELLS[name] for name in MOVING}}
    query = f"""SELECT {column_list(kinds)} FROM past AS p WHERE until =
                (SELECT min(until) FROM past WHERE cell = p.cell AND until > ?)"""
    cells = _with_values(cells, select(connection, query, kinds, (deed,)).rename({"cell": "row"}))
    query = """SELECT cell, field, value FROM rewritten AS r WHERE until =
               (SELECT min(until) FROM rewritten WHERE cell = r.cell AND field = r.field AND until > ?)"""
    fields = select(connection, query, {"row": pl.Int64, "field": pl.String, "value": pl.String}, (deed,))
    for name in fields["field"].unique():
        cells = _with_values(cells, fields.filter(pl.col("field") == name).select("row", _from_json(name)))
    return cells


def _with_values(cells: pl.DataFrame, values: pl.DataFrame) -> pl.DataFrame:
    if values.is_empty():
        return cells
    names = [name for name in values.columns if name != "row"]
    numbered = cells.with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))
    aligned = numbered.select("row").join(values, on="row", how="left", maintain_order="left")
    replaced = aligned["row"].is_in(values["row"].implode())
    return cells.with_columns(
        pl.when(replaced).then(aligned[name].cast(CELLS[name])).otherwise(pl.col(name)).alias(name) for name in names
    )


def _records_as_of(connection: sqlite3.Connection, writers: pl.DataFrame, deed: int) -> pl.DataFrame:
    kinds = {"row": pl.Int64, **{name: schema.WRITERS[name] for name in RECORD}}
    query = f"""SELECT writer, {column_list(RECORD)} FROM records AS p WHERE until =
                (SELECT min(until) FROM records WHERE writer = p.writer AND until > ?)"""
    old = select(connection, query, kinds, (deed,))
    both = writers.with_row_index("row").join(old.cast({"row": pl.UInt32}), on="row", how="left", maintain_order="left")
    return both.select("rep", "writer", *(pl.coalesce(f"{name}_right", name).alias(name) for name in RECORD))


def _created_by(memory: Memory, day: float) -> Memory:
    cells = memory.cells
    created = cells["created"] <= day
    index = (created.cum_sum().cast(pl.Int64) - 1).set(~created, None)
    successor = index.gather(cells["successor"])
    not_yet_replaced = (cells["status"] == "superseded") & successor.is_null() & cells["successor"].is_not_null()
    status = pl.when(not_yet_replaced).then(pl.lit("active", schema.CELLS["status"])).otherwise("status").alias("status")
    present = cells.with_columns(successor.alias("successor"), status).filter(created)
    edges = memory.edges.with_columns(index.gather(memory.edges[end]).alias(end) for end in ("source", "target"))
    edges = edges.filter(pl.col("t") <= day).drop_nulls(["source", "target"])
    return Memory(present, edges, memory.writers, edges.height)
