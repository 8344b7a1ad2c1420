"""Memory built from frames of cells, edges and writers, with default values for absent columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.base.errors import DataError, nearest
from malsim.memory import schema
from malsim.memory.gate.admit import admit
from malsim.memory.graph.claim_graph import Memory
from malsim.memory.graph.texts import content_of, folded

if TYPE_CHECKING:
    from collections.abc import Mapping

NEEDED = ("handle", "writer", "title", "stated")
ENDS = ("source", "target")


def from_frames(cells: pl.DataFrame, edges: pl.DataFrame | None = None, writers: pl.DataFrame | None = None) -> Memory:
    """Build a memory from frames of cells, edges and writers, without passing them through the gate.

    The frames `memory.cells`, `memory.edges` and `memory.writers` of a memory build an equal memory.

    Parameters
    ----------
    cells
        One row per cell, with columns of `schema.CELLS`: at least handle, writer, title and stated (0 to 1). Absent columns
        have the gate's values for a new claim; `effective` defaults to `stated`.
    edges
        Columns source, target (rows of `cells`, or handles) and relation; optionally weight (default: that of the relation,
        1 for supports, −1 for contradicts), writer (default: that of the source) and t (days).
    writers
        Columns of `schema.WRITERS`; if None, the writers of the cells, without a record.

    Raises
    ------
    DataError
        For a column that is missing, unknown or of the wrong type, a value outside 0 to 1, a repeated handle, or an edge to
        a cell that does not exist.

    >>> cells = pl.DataFrame({"handle": ["obs_a1a1"], "writer": ["ann"], "title": ["it is up"], "stated": [0.9]})
    >>> from_frames(cells).cells["effective"].to_list()
    [0.9]
    """
    new = {"handle": "obs_0000", "writer": "w", "title": "x", "confidence": 0.5, "verification": "external"}
    blank = admit(Memory.empty(), [new]).memory
    _need(cells, NEEDED, "cells")
    full = cells.with_columns(pl.col("handle").alias("key")) if "key" not in cells.columns else cells
    for name in ("claimed", "effective"):
        full = full if name in full.columns else full.with_columns(pl.col("stated").alias(name))
    if "kind" not in full.columns:
        full = full.with_columns(kind=pl.col("handle").str.extract(r"^([a-z]+)_").fill_null("obs"))
    rows = _typed(full, schema.CELLS, blank.cells.row(0, named=True), "cells")
    for name in ("stated", "effective", "currency", "calibration"):
        outside = rows.filter(~pl.col(name).is_between(0.0, 1.0))[name]
        if len(outside):
            raise DataError("out of bounds", where=f"cells.{name}", given=outside[0], allowed="0 to 1")
    twice = rows.filter(pl.struct("rep", "handle").is_duplicated())["handle"]
    if len(twice):
        raise DataError("the handle is given twice", where="cells.handle", given=twice[0], hint="keep one row per cell")
    records = _typed(
        rows.select("rep", "writer").unique(maintain_order=True) if writers is None else writers,
        schema.WRITERS, blank.writers.row(0, named=True), "writers",
    )  # fmt: skip
    if "author" not in cells.columns:
        authors = records.select("rep", "writer").with_row_index("author").with_columns(pl.col("author").cast(pl.UInt32))
        rows = rows.drop("author").join(authors, on=["rep", "writer"], how="left", maintain_order="left")
        if rows["author"].null_count():
            missing = rows.filter(pl.col("author").is_null())["writer"][0]
            hint = "add a row for this writer, or leave out the writers frame"
            raise DataError("a cell's writer is missing", where="writers", given=missing, hint=hint)
    if "content" not in cells.columns:
        rows = rows.with_columns(content=content_of(pl.col("kind").cast(pl.String), folded(pl.col("title"))))
    lines = _edges(rows, edges) if edges is not None else pl.DataFrame(schema=schema.EDGES)
    return Memory(rows.select(list(schema.CELLS)), lines, records)


def _edges(cells: pl.DataFrame, edges: pl.DataFrame) -> pl.DataFrame:
    _need(edges, (*ENDS, "relation"), "edges")
    index = cells["handle"].to_list()
    for end in ENDS:
        if edges[end].dtype == pl.String:
            rows = edges[end].replace_strict(index, range(len(index)), default=None, return_dtype=pl.Int64)
        else:
            rows = edges[end].cast(pl.Int64, strict=False)
        outside = rows.is_null() | ~rows.is_between(0, len(index) - 1)
        if outside.any():
            given = edges[end].filter(outside)[0]
            raise DataError(
                "no such cell", where=f"edges.{end}", given=given, allowed="a handle or a row number of the cells frame"
            )
        edges = edges.with_columns(rows.alias(end))
    relation = pl.col("relation").cast(pl.String)
    weights = relation.replace_strict(schema.WEIGHTS, default=None, return_dtype=pl.Float64)
    authors, days = cells["writer"].gather(edges["source"]), cells["created"].gather(edges["source"])
    given = edges.columns
    edges = edges.with_columns(
        *([weights.alias("weight")] if "weight" not in given else []),
        *([authors.alias("writer")] if "writer" not in given else []),
        *([days.alias("t")] if "t" not in given else []),
    )
    return _typed(edges, schema.EDGES, {}, "edges")


def _need(frame: pl.DataFrame, names: tuple[str, ...], where: str) -> None:
    if missing := [name for name in names if name not in frame.columns]:
        raise DataError("a column is missing", where=where, given=", ".join(frame.columns), hint=f"add {', '.join(missing)}")


def _typed(frame: pl.DataFrame, kinds: Mapping[str, Any], defaults: Mapping[str, Any], where: str) -> pl.DataFrame:
    """Return all columns of the schema, cast to their types. Absent columns are filled with their defaults."""
    unknown = [name for name in frame.columns if name not in kinds]
    if unknown:
        hint = nearest(unknown[0], kinds, f"use one of {', '.join(kinds)}")
        raise DataError("unknown column", where=where, given=unknown[0], hint=hint)
    try:
        columns = [
            frame[name].cast(kind) if name in frame.columns
            else pl.Series(name, [defaults.get(name)], kind).new_from_index(0, frame.height)
            for name, kind in kinds.items()
        ]  # fmt: skip
    except (pl.exceptions.PolarsError, TypeError) as error:
        raise DataError(f"a column has the wrong type: {error}", where=where, hint=f"see memory.{where}.schema") from error
    return pl.DataFrame(columns)
