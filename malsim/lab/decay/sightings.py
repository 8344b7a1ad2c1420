"""Frame of the claims that a source shows, restatements included: writer, object, value and time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from malsim.base.errors import UsageError
from malsim.memory.push.ten_cells import WRITER
from malsim.memory.store import Store

if TYPE_CHECKING:
    from malsim.memory import Memory

ALONE = "\0"  # no object is called so

_ROW = pl.col("row")


def sightings(source: Any) -> pl.DataFrame:
    """Return a row per claim, by replication, object, time and row; `first` is the row of the cell made or restated.

    Columns: rep, object, first, cell, stability, topics, t (days), writer, said, verified, superseded, contradicted: whether
    it superseded, or contradicts another writer's, earlier claim. Claims without an object are about the same thing where
    they supersede or contradict each other. What a claim says is its value, or its title where it has none.

    Raises `UsageError` for a source that shows no claims.
    """
    if isinstance(source, (str, Path)):
        with Store(source, write=False) as store:
            return sightings(store)
    memory: Memory = getattr(source, "memory", source)
    cells = _cells(memory)
    claims = pl.concat([cells, _restatements(source, cells)])
    claims = claims.filter(pl.col("writer").fill_null("") != WRITER)  # the first ten cells are no claims about the world
    if claims.is_empty():
        raise UsageError("a memory without claims has no history", where="histories", hint="admit claims first")
    return claims.sort("rep", "object", "t", "first", "restated", maintain_order=True).drop("restated")


def _cells(memory: Memory) -> pl.DataFrame:
    names = (
        "rep",
        "object",
        "handle",
        "stability",
        "topics",
        "created",
        "writer",
        "value",
        "title",
        "verification",
        "successor",
    )
    cells = memory.cells.select(names).with_row_index("row").with_columns(_ROW.cast(pl.Int64))
    edges = memory.edges.filter(pl.col("relation") == "contradicts").select("source", "target")
    has_object = pl.col("object").is_not_null() & (pl.col("object") != "")
    alone = pl.lit(ALONE) + pl.col("handle").first().over(pl.Series("group", _groups(cells, edges)))
    claims = cells.with_columns(
        said=pl.coalesce(pl.col("value").cast(pl.String), pl.col("title").str.to_lowercase().str.strip_chars()),
        object=pl.when(has_object).then("object").otherwise(alone),
    )
    return claims.select(
        "rep", "object", pl.col("row").alias("first"), pl.col("handle").alias("cell"), "stability", "topics",
        pl.col("created").alias("t"), "writer", "said",
        verified=pl.col("verification") != "unverified",
        superseded=_ROW.is_in(_superseding(claims).implode()),
        contradicted=_ROW.is_in(_contradicting(claims, edges).implode()),
        restated=pl.lit(value=False),
    )  # fmt: skip


def _groups(cells: pl.DataFrame, edges: pl.DataFrame) -> np.ndarray[Any, Any]:
    """Return a group number per cell, shared by cells linked through supersession or contradiction."""
    old = cells.filter(pl.col("successor") >= 0)
    source, target = pl.concat([old["row"], edges["source"]]), pl.concat([old["successor"], edges["target"]])
    ends = source.to_numpy(), target.to_numpy()
    graph = coo_array((np.ones(len(source)), ends), shape=(cells.height, cells.height))
    return np.asarray(connected_components(graph, directed=False)[1])


def _superseding(cells: pl.DataFrame) -> pl.Series:
    old = cells.filter(pl.col("successor") >= 0)
    return old.filter(pl.col("said") != cells["said"].gather(old["successor"]))["successor"]


def _contradicting(cells: pl.DataFrame, edges: pl.DataFrame) -> pl.Series:
    source, target = (cells[edges[end].to_list()] for end in ("source", "target"))
    return source.filter((source["created"] > target["created"]) & (source["writer"] != target["writer"]))["row"]


def _restatements(source: Any, cells: pl.DataFrame) -> pl.DataFrame:
    """Return the claims that the gate took for restatements: a store logs their verdicts, a run its events."""
    if isinstance(source, Store):
        verdicts = source.verdicts.filter(pl.col("verdict") == "deduplicated").select("rep", "t", "writer", first="cell")
        again = verdicts.join(cells.drop("t", "writer", "rep"), on="first")
    else:
        events: pl.DataFrame = getattr(source, "events", pl.DataFrame())
        if "subject" not in events.columns:
            return cells.clear()
        verdicts = events.filter(pl.col("kind") == "deduplicated").select(
            "rep", "t", writer=pl.col("detail").str.strip_prefix("by "), cell="subject"
        )
        again = verdicts.join(cells.drop("t", "writer"), on=["rep", "cell"])
    return again.with_columns(restated=pl.lit(value=True)).select(cells.columns)
