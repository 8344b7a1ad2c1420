"""Functions that copy a memory into each replication of a run, or drop some replications."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.errors import DataError
from malsim.memory import schema
from malsim.memory.graph.claim_graph import Memory
from malsim.memory.graph.texts import content_of, folded

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_CONTENT = content_of(pl.col("kind").cast(pl.String), folded(pl.col("title"))).alias("content")
_DAYS = ("created", "touched", "read", "valid_from", "valid_to", "rejected", "expires", "reverify")


def replicated(memory: Memory, reps: Sequence[int], *, now: float = 0.0) -> Memory:
    """Return one copy of the memory per replication. Day 0 of the copies is `now`, so that earlier days are negative.

    Cells, edges and writers keep their order within a replication. Raises `DataError` for several replications.
    """
    if memory.cells["rep"].n_unique() > 1:
        count = memory.cells["rep"].n_unique()
        problem = "only a memory with a single replication can be copied"
        raise DataError(problem, given=f"{count} replications", allowed="1 replication")
    rep = pl.Series("rep", reps, dtype=schema.CELLS["rep"])
    replications = rep.to_frame().with_columns(number=pl.int_range(pl.len(), dtype=pl.Int64))
    cells = replications.join(memory.cells.drop("rep"), how="cross").with_columns(
        pl.col("author") + (pl.col("number") * memory.writers.height).cast(pl.UInt32),
        pl.col("successor") + pl.col("number") * memory.cells.height,
        *(pl.col(name) - now for name in _DAYS),
        _CONTENT,
    )
    edges = memory.edges.join(replications, how="cross").with_columns(
        *(pl.col(end) + pl.col("number") * memory.cells.height for end in ("source", "target")), pl.col("t") - now
    )
    writers = replications.join(memory.writers.drop("rep"), how="cross")
    return Memory(
        cells.select(list(schema.CELLS)),
        edges.select(list(schema.EDGES)),
        writers.select(list(schema.WRITERS)),
        memory.scanned * len(rep),
    )


def only_replication(memory: Memory, rep: int) -> Memory:
    """Return one replication of a memory, renumbered as replication 0."""
    part = without(memory, {*memory.cells["rep"], *memory.writers["rep"]} - {rep})
    cells, writers = (frame.with_columns(pl.lit(0, pl.Int32).alias("rep")) for frame in (part.cells, part.writers))
    return Memory(cells.with_columns(_CONTENT), part.edges, writers, part.scanned)


def without(memory: Memory, reps: Collection[int]) -> Memory:
    """Return the memory without the cells, writers and edges of the given replications."""
    if not reps:
        return memory
    stay, stay_writers = (~frame["rep"].is_in(list(reps)).to_numpy() for frame in (memory.cells, memory.writers))
    cell, author = (pl.Series(np.where(mask, mask.cumsum() - 1, -1)) for mask in (stay, stay_writers))
    cells = memory.cells.filter(stay)
    scanned = memory.edges["source"].head(memory.scanned)
    edges = memory.edges.filter(pl.Series(stay).gather(memory.edges["source"]))
    return Memory(
        cells.with_columns(_renumbered(cells["author"], author), _renumbered(cells["successor"], cell)),
        edges.with_columns(_renumbered(edges["source"], cell), _renumbered(edges["target"], cell)),
        memory.writers.filter(stay_writers),
        int(stay[scanned.to_numpy()].sum()),
    )


def _renumbered(rows: pl.Series, new_rows: pl.Series) -> pl.Series:
    return new_rows.gather(rows).cast(rows.dtype).alias(rows.name)
