"""One memory as many: the same graph once for each replication of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from malsim.base.errors import DataError
from malsim.memory import schema
from malsim.memory.graph.claim_graph import Memory
from malsim.memory.graph.texts import content_of, folded

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["replicated"]

_DAYS = ("created", "touched", "read", "valid_from", "valid_to", "rejected", "expires", "reverify")


def replicated(memory: Memory, reps: Sequence[int], *, now: float = 0.0) -> Memory:
    """The memory once for each of the replications, its days counted from `now`: what was written before has days below 0.

    Within a replication cells, edges and writers keep their order. Raises `DataError` for a memory of several replications.

    >>> from malsim.memory import admit
    >>> memory = admit(Memory.empty(), [{"writer": "ann", "kind": "obs", "title": "up", "confidence": 0.6, "t": 2.0}]).memory
    >>> replicated(memory, [4, 5], now=3.0).cells.select("rep", "created").rows()
    [(4, -1.0), (5, -1.0)]
    """
    if memory.cells["rep"].n_unique() > 1:
        raise DataError("a memory of several replications cannot begin others", given=f"{memory.cells['rep'].n_unique()}")
    rep = pl.Series("rep", reps, dtype=schema.CELLS["rep"])
    replications = rep.to_frame().with_columns(number=pl.int_range(pl.len(), dtype=pl.Int64))
    content = content_of(pl.col("kind").cast(pl.String), folded(pl.col("title"))).alias("content")
    cells = replications.join(memory.cells.drop("rep"), how="cross").with_columns(
        pl.col("author") + (pl.col("number") * memory.writers.height).cast(pl.UInt32),
        pl.col("successor") + pl.col("number") * memory.cells.height,
        *(pl.col(name) - now for name in _DAYS),
        content,
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
