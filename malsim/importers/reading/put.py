"""Insertion of imported cells into a memory, with their keys, handles, scores, statuses and successors unchanged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from malsim.memory import schema
from malsim.memory.graph.claim_graph import Memory
from malsim.memory.graph.texts import content_of, folded, is_immutable

_SPACES = r"\s\s|[^\S ]"  # white space that is changed when a title is folded
EDGES: dict[str, pl.DataType | type[pl.DataType]] = {
    "source": pl.String,
    "relation": pl.String,
    "target": pl.String,
    "weight": pl.Float64,
}
ROW: dict[str, pl.DataType | type[pl.DataType]] = {
    "rep": pl.Int32, "key": pl.String, "handle": pl.String, "kind": pl.String, "writer": pl.String, "object": pl.String,
    "title": pl.String,
    "body": pl.String, "summary": pl.String, "value": pl.Float64, "stated": pl.Float64, "uncertainty": pl.Float64,
    "concern": pl.Float64, "source_quality": pl.Float64, "calibration": pl.Float64, "effective": pl.Float64,
    "c0": pl.Float64, "currency": pl.Float64, "salience_seed": pl.Float64, "salience": pl.Float64, "stability": pl.String,
    **dict.fromkeys(schema.FLAGS, pl.Boolean), "status": pl.String, "created": pl.Float64, "touched": pl.Float64,
    "read": pl.Float64, "topics": pl.List(pl.String), "entities": pl.List(pl.String), "source_refs": pl.List(pl.String),
    "verification": pl.String, "origin": pl.String, "sensitivity": pl.String, "expires": pl.Float64, "reverify": pl.Float64,
    "valid_from": pl.Float64, "valid_to": pl.Float64, "lineage": pl.List(pl.String),
    "scope": pl.String,
}  # fmt: skip


@dataclass(frozen=True)
class Placement:
    """Memory after an insertion, and `loose` edges (source, relation, target, weight) that could not be inserted."""

    memory: Memory
    loose: pl.DataFrame


def put(memory: Memory, rows: pl.DataFrame, edges: pl.DataFrame) -> Placement:
    """Insert rows and their outgoing edges into a memory.

    A row whose key exists replaces the existing row and its outgoing edges. Edges name their ends by key. Edges between
    other cells stay unchanged.
    """
    if rows["key"].n_unique() < rows.height:
        rows = rows.unique("key", keep="last", maintain_order=True)
    index = _rows_of(memory, rows["key"])
    fresh = index < 0
    index[fresh] = memory.cells.height + np.arange(int(fresh.sum()))
    author, writers = _authors_of(memory.writers, rows)
    old = memory.cells.with_row_index("row").filter(~pl.col("row").is_in(index))
    new = cells_of(rows, author).with_columns(pl.Series("row", index, dtype=pl.UInt32))
    cells = (pl.concat([old.select(new.columns), new]).sort("row") if memory.cells.height else new).drop("row")
    unchanged = memory.edges.filter(~pl.col("source").is_in(index))
    added, loose = _by_row(Memory(cells, unchanged, writers), edges)
    every = pl.concat([unchanged, added])
    return Placement(with_lines(Memory(cells, every, writers, every.height), rows), loose)


def _rows_of(memory: Memory, keys: pl.Series) -> NDArray[np.int64]:
    rows_by_key = memory.cells.select("key", pl.int_range(pl.len(), dtype=pl.Int64).alias("row")).unique("key", keep="first")
    rows = pl.DataFrame({"key": keys}).join(rows_by_key, on="key", how="left", maintain_order="left")
    return rows["row"].fill_null(-1).to_numpy().copy()


def _authors_of(writers: pl.DataFrame, rows: pl.DataFrame) -> tuple[pl.Series, pl.DataFrame]:
    """Return the index of each row's writer, and the writers table with new writers appended."""
    names = ("rep", "writer")
    fresh = rows.select(names).unique(maintain_order=True).join(writers, on=names, how="anti", maintain_order="left")
    new = fresh.with_columns(claims=0, contradicted=0, calibration=1.0)
    writers = pl.concat([writers, new.cast(schema.WRITERS)])  # type: ignore[arg-type]  # a dict of polars types
    index = writers.with_row_index("author")
    return rows.select(names).join(index, on=names, how="left", maintain_order="left")["author"], writers


def cells_of(rows: pl.DataFrame, author: pl.Series) -> pl.DataFrame:
    """Build the cells of `rows`, whose writers are given by index. Support and challenge masses are 0."""
    title, odd = pl.col("title"), rows["title"].str.contains(_SPACES).any()
    title = folded(title) if odd else title.str.strip_chars().str.to_lowercase()  # the polars expression is twice as fast
    whole = rows.with_columns(
        author,
        content_of(pl.col("kind").cast(pl.String), title).alias("content"),
        is_immutable(pl.col("handle")).alias("immutable"),
        pl.lit(None).alias("successor"),
        *(pl.lit(0.0).alias(name) for name in ("support_mass", "challenge_mass")),
        claimed=pl.col("stated"),
        worth=pl.col("effective"),
        version=pl.lit(1),
    )
    absent = (pl.lit(None, kind).alias(name) for name, kind in schema.CELLS.items() if name not in whole.columns)
    return whole.with_columns(absent).select([pl.col(name).cast(kind) for name, kind in schema.CELLS.items()])


def _by_row(memory: Memory, edges: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Convert edges from keys to row indexes, with the source's writer and time. Return invalid edges separately."""
    edges = edges.unique(["source", "relation", "target"], keep="last", maintain_order=True)
    ends = _rows_of(memory, pl.concat([edges["source"], edges["target"]]))
    source, target = ends[: edges.height], ends[edges.height :]
    good = pl.Series((source >= 0) & (target >= 0)) & edges["relation"].is_in(schema.RELATIONS) & edges["weight"].is_finite()
    source, target = source[good.to_numpy()], target[good.to_numpy()]
    rows = edges.filter(good).with_columns(
        pl.Series("source", source),
        pl.Series("target", target),
        memory.cells["writer"].gather(source).alias("writer"),
        memory.cells["created"].gather(source).alias("t"),
    )
    return rows.select([pl.col(name).cast(kind) for name, kind in schema.EDGES.items()]), edges.filter(~good)


Ints: TypeAlias = NDArray[np.int64]


def with_lines(memory: Memory, rows: pl.DataFrame) -> Memory:
    """Return the memory with `successor` and `version` derived from edges and from the lineage in `rows`.

    A superseded cell's successor is the cell whose lineage names it, otherwise the first cell that `supersedes` it.
    """
    cells = memory.cells
    new, old = _pairs(memory, rows)
    superseded = (cells["status"] == "superseded").to_numpy()
    demotes = superseded[old] & (new != old)
    successor = np.full(cells.height, -1, dtype=np.int64)
    present = cells["successor"].fill_null(-1).to_numpy()
    first_old, first = np.unique(old[demotes], return_index=True)
    successor[first_old] = new[demotes][first]
    successor = np.where(superseded & (successor < 0), present, successor)
    version = _versions(cells.height, new[demotes], old[demotes])
    heirs = pl.Series("successor", successor)
    return Memory(
        cells.with_columns(heirs.set(heirs < 0, None), pl.Series("version", version, dtype=schema.CELLS["version"])),
        memory.edges,
        memory.writers,
        memory.scanned,
    )


def _versions(height: int, new: Ints, old: Ints) -> Ints:
    """Return each row's position, counted from 1, in its longest chain of versions. Cycles are not followed."""
    pairs = np.unique(new * height + old)
    new, old = pairs // height, pairs % height
    version, waiting = [1] * height, np.bincount(new, minlength=height).tolist()
    heirs: dict[int, list[int]] = {}
    for newer, older in zip(new.tolist(), old.tolist(), strict=True):
        heirs.setdefault(older, []).append(newer)
    ready = [row for row in heirs if not waiting[row]]
    while ready:
        row = ready.pop()
        for heir in heirs.get(row, ()):
            version[heir] = max(version[heir], version[row] + 1)
            waiting[heir] -= 1
            if not waiting[heir]:
                ready.append(heir)
    return np.array(version, dtype=np.int64)


def _pairs(memory: Memory, rows: pl.DataFrame) -> tuple[Ints, Ints]:
    """Return the row indexes (new, old) of all pairs in which one cell supersedes another, pairs from lineages first."""
    edges = memory.edges.filter(pl.col("relation") == "supersedes").select(new="source", old="target")
    lineage = rows.select("key", pl.col("lineage").alias("old")).filter(pl.col("old").list.len() > 0).explode("old")
    if lineage.is_empty():
        return edges["new"].to_numpy(), edges["old"].to_numpy()
    index = memory.cells.select("key", pl.int_range(pl.len(), dtype=pl.Int64).alias("row"))
    lineage = lineage.join(index, on="key").join(index.select(old="key", old_row="row"), on="old")
    both = pl.concat([lineage.select(new="row", old="old_row"), edges])
    return both["new"].to_numpy(), both["old"].to_numpy()
