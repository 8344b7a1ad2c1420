"""Copy one memory for each replication of a run, or drop some replications."""

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
    """Return one copy of the memory per replication, with days counted from `now`: earlier days are negative.

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


def alone(memory: Memory, rep: int) -> Memory:
    own = without(memory, {*memory.cells["rep"], *memory.writers["rep"]} - {rep})
    cells, writers = (frame.with_columns(pl.lit(0, pl.Int32).alias("rep")) for frame in (own.cells, own.writers))
    return Memory(cells.with_columns(_CONTENT), own.edges, writers, own.scanned)


def without(memory: Memory, reps: Collection[int]) -> Memory:
    """Return the memory without the cells, writers and edges of some replications.

    >>> from malsim.memory import admit
    >>> claims = [{"rep": rep, "writer": "ann", "kind": "obs", "title": f"up {rep}", "confidence": 0.6} for rep in (0, 1, 2)]
    >>> without(admit(Memory.empty(), claims).memory, [0, 2]).cells["title"].to_list()
    ['up 1']
    """
    if not reps:
        return memory
    stay = [~frame["rep"].is_in(list(reps)).to_numpy() for frame in (memory.cells, memory.writers)]
    cell, author = (pl.Series(np.where(item, item.cumsum() - 1, -1)) for item in stay)
    cells = memory.cells.filter(stay[0])
    scanned = memory.edges["source"].head(memory.scanned)
    edges = memory.edges.filter(pl.Series(stay[0]).gather(memory.edges["source"]))
    return Memory(
        cells.with_columns(_moved(cells["author"], author), _moved(cells["successor"], cell)),
        edges.with_columns(_moved(edges["source"], cell), _moved(edges["target"], cell)),
        memory.writers.filter(stay[1]),
        int(stay[0][scanned.to_numpy()].sum()),
    )


def _moved(rows: pl.Series, places: pl.Series) -> pl.Series:
    return places.gather(rows).cast(rows.dtype).alias(rows.name)
