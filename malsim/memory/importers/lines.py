"""Successors and versions, read off recorded lineage and `supersedes` edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory import schema
from malsim.memory.cells import Memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

__all__ = ["with_lines"]


def with_lines(memory: Memory, rows: pl.DataFrame) -> Memory:
    """The memory with `successor` and `version` as `rows` (key, lineage) and the edges tell them.

    A superseded cell's successor is the one whose lineage names it, else the first whose `supersedes` edge does.
    """
    cells = memory.cells
    new, old = _pairs(memory, rows)
    superseded = (cells["status"] == "superseded").to_numpy()
    demotes = superseded[old] & (new != old)
    successor = np.full(cells.height, -1, dtype=np.int64)
    standing = cells["successor"].fill_null(-1).to_numpy()
    first_old, first = np.unique(old[demotes], return_index=True)
    successor[first_old] = new[demotes][first]
    successor = np.where(superseded & (successor < 0), standing, successor)
    version = np.ones(cells.height, dtype=np.int32)
    for _ in range(len(new)):
        grown = version.copy()
        np.maximum.at(grown, new[demotes], version[old[demotes]] + 1)
        if np.array_equal(grown, version) or grown.max() > cells.height:
            break
        version = grown
    heirs = pl.Series("successor", successor)
    return Memory(
        cells.with_columns(heirs.set(heirs < 0, None), pl.Series("version", version, dtype=schema.CELLS["version"])),
        memory.edges,
        memory.writers,
        memory.scanned,
    )


def _pairs(memory: Memory, rows: pl.DataFrame) -> tuple[Ints, Ints]:
    """(new, old) rows, those on record in lineages first."""
    place = memory.cells.select("key", pl.int_range(pl.len(), dtype=pl.Int64).alias("row"))
    told = rows.select("key", pl.col("lineage").alias("old")).filter(pl.col("old").list.len() > 0).explode("old")
    told = told.join(place, on="key").join(place.select(old="key", old_row="row"), on="old").select(new="row", old="old_row")
    edges = memory.edges.filter(pl.col("relation") == "supersedes").select(new="source", old="target")
    both = pl.concat([told, edges])
    return both["new"].to_numpy(), both["old"].to_numpy()
