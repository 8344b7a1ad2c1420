"""Edges written on their own, between cells that stand already: that is how disputes become mutual."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from malsim.errors import DataError
from malsim.memory import schema
from malsim.memory.building import new_edges, supported
from malsim.memory.deferred import Deferred
from malsim.memory.fields import edge_issues
from malsim.memory.frames import joined
from malsim.memory.numbering import look_up
from malsim.memory.rules import Rules
from malsim.memory.schema import NONE
from malsim.memory.validation import gather

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from malsim.memory.cells import Memory
    from malsim.memory.numbering import Bools, Ints

__all__ = ["Connection", "connect", "connect_rows"]

_COLUMNS: dict[str, tuple[pl.DataType | type[pl.DataType], object]] = {
    "rep": (pl.Int32, 0),
    "t": (pl.Float64, 0.0),
    "writer": (pl.String, None),
    "source": (pl.String, None),
    "relation": (pl.String, None),
    "target": (pl.String, None),
    "weight": (pl.Float64, None),
    "mutual": (pl.Boolean, False),
}


class Connection(NamedTuple):
    """The memory with the edges that held, and one verdict an edge with its issues."""

    memory: Memory
    verdicts: pl.DataFrame


def connect(memory: Memory, edges: pl.DataFrame | Sequence[Mapping[str, Any]], rules: Rules | None = None) -> Connection:
    """Write edges (rep, t, writer, source, relation, target, weight, mutual) whose ends are named by handle or key.

    A weight left out is its relation's default; `mutual` writes the reverse edge too. An edge is refused when an end names
    no cell, when both name one, when its weight has the wrong sign or size, or when it stands already. Edges written so
    never demote a cell. Raises `DataError` for unknown columns.
    """
    rules = rules or Rules()
    frame = _typed(edges if isinstance(edges, pl.DataFrame) else pl.DataFrame(list(edges), infer_schema_length=None), rules)
    issues = [edge_issues(frame, rules)]
    rows = {end: look_up(memory, frame["rep"], frame[end]) for end in ("source", "target")}
    said = {
        "source": ("names no cell that stands", rows["source"] == NONE),
        "target": ("names no cell that stands", rows["target"] == NONE),
        "relation": ("stands already, or joins a cell with itself", _idle(memory, frame, rows, rules)),
        "writer": ("must be text that is not blank", (frame["writer"].fill_null("").str.strip_chars() == "").to_numpy()),
    }
    for path, (message, wrong) in said.items():
        found = frame.filter(pl.Series(wrong))
        issues.append(found.select("claim", pl.lit(path).alias("path"), pl.lit(message).alias("message")))
    listed = gather(pl.concat(issues).unique(["claim", "path"], keep="first", maintain_order=True))
    verdicts = frame.join(listed, on="claim", how="left", maintain_order="left").with_columns(pl.col("issues").fill_null([]))
    good = verdicts["issues"].list.len() == 0
    verdict = pl.when(good).then(pl.lit("admitted")).otherwise(pl.lit("refused")).alias("verdict")
    verdicts = verdicts.with_columns(verdict).drop("claim", "place")
    by_row = frame.with_columns(pl.Series(end, ids) for end, ids in rows.items()).filter(good)
    return Connection(connect_rows(memory, by_row, rules), verdicts)


def connect_rows(memory: Memory, edges: pl.DataFrame, rules: Rules) -> Memory:
    """Add edges named by row (source, relation, target, weight, writer, t, mutual) that do not stand yet."""
    typed = edges.select(pl.col(name).cast(kind) for name, kind in (schema.EDGES | {"mutual": pl.Boolean}).items())
    fresh = new_edges(memory, typed, last_weight=rules.duplicate_edges == "last_weight")[list(schema.EDGES)]
    if fresh.is_empty():
        return memory
    return supported(memory, Deferred.of(fresh), rules).with_edges(joined(memory.edges, fresh))


def _typed(edges: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    if unknown := set(edges.columns) - set(_COLUMNS):
        raise DataError("unknown column of edges", given=min(unknown), allowed=", ".join(_COLUMNS))
    columns = []
    for name, (kind, default) in _COLUMNS.items():
        given = pl.col(name).cast(kind) if name in edges.columns else pl.lit(None, kind)
        columns.append((given.fill_null(pl.lit(default, kind)) if default is not None else given).alias(name))
    try:
        typed = edges.select(columns)
    except pl.exceptions.PolarsError as error:
        raise DataError("edges of the wrong type", given=str(edges.schema), allowed=", ".join(_COLUMNS)) from error
    default_weight = pl.col("relation").replace_strict(rules.weights(), default=None, return_dtype=pl.Float64)
    typed = typed.with_columns(pl.col("weight").fill_null(default_weight)).sort("t", "writer", maintain_order=True)
    return typed.with_row_index("claim").with_columns(pl.lit(0).alias("place"))


def _idle(memory: Memory, frame: pl.DataFrame, rows: dict[str, Ints], rules: Rules) -> Bools:
    """Edges that join a cell with itself, or say what stands or was just said, where the rules refuse that."""
    idle = np.zeros(frame.height, dtype=bool)
    if rules.self_edges == "refused":
        idle |= (rows["source"] == rows["target"]) & (rows["source"] != NONE)
    if rules.duplicate_edges == "refused":
        same = frame.select(pl.Series("source", rows["source"]), "relation", pl.Series("target", rows["target"]))
        standing = memory.edges.select("source", pl.col("relation").cast(pl.String), "target")
        met = same.with_row_index("place").join(standing, on=same.columns, how="semi")["place"].to_numpy()
        idle[met] = True
        known = (rows["source"] != NONE) & (rows["target"] != NONE)
        idle |= ~same.select(pl.struct(pl.all()).is_first_distinct()).to_series().to_numpy() & known
    return idle
