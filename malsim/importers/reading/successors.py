"""Successors and versions, derived from recorded lineage and `supersedes` edges."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from malsim.memory import schema
from malsim.memory.graph.claim_graph import Memory

Ints: TypeAlias = NDArray[np.int64]


def with_lines(memory: Memory, rows: pl.DataFrame) -> Memory:
    """Return the memory with `successor` and `version` from `rows` (key, lineage) and from the edges.

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
    version = _versions(cells.height, new[demotes], old[demotes])
    heirs = pl.Series("successor", successor)
    return Memory(
        cells.with_columns(heirs.set(heirs < 0, None), pl.Series("version", version, dtype=schema.CELLS["version"])),
        memory.edges,
        memory.writers,
        memory.scanned,
    )


def _versions(height: int, new: Ints, old: Ints) -> Ints:
    """Return each row's position in its chain, from 1; rows that supersede one another in a cycle stay at 1."""
    pairs = np.unique(new * height + old)
    new, old = pairs // height, pairs % height
    return _steps_back(height, new, old) if (np.diff(new) > 0).all() else _longest_paths(height, new, old)


def _steps_back(height: int, new: Ints, old: Ints) -> Ints:
    """Count each row's steps back to the first version, by pointer doubling; each row supersedes at most one other."""
    before, steps = np.arange(height), np.zeros(height, dtype=np.int64)
    before[new], steps[new] = old, 1
    for _ in range(height.bit_length()):
        steps, before = steps + steps[before], before[before]
    return np.where(steps < height, steps, 0) + 1


def _longest_paths(height: int, new: Ints, old: Ints) -> Ints:
    """Return the length of the longest path to each row, where a row may supersede several others."""
    version, waiting = [1] * height, np.bincount(new, minlength=height).tolist()
    heirs: dict[int, list[int]] = {}
    for newer, older in zip(new.tolist(), old.tolist(), strict=True):
        heirs.setdefault(older, []).append(newer)
    free = [row for row in heirs if not waiting[row]]
    while free:
        row = free.pop()
        for heir in heirs.get(row, ()):
            version[heir] = max(version[heir], version[row] + 1)
            waiting[heir] -= 1
            if not waiting[heir]:
                free.append(heir)
    return np.array(version, dtype=np.int64)


def _pairs(memory: Memory, rows: pl.DataFrame) -> tuple[Ints, Ints]:
    """Return (new, old) row indexes, those recorded in lineages first."""
    edges = memory.edges.filter(pl.col("relation") == "supersedes").select(new="source", old="target")
    lineage = rows.select("key", pl.col("lineage").alias("old")).filter(pl.col("old").list.len() > 0).explode("old")
    if lineage.is_empty():
        return edges["new"].to_numpy(), edges["old"].to_numpy()
    place = memory.cells.select("key", pl.int_range(pl.len(), dtype=pl.Int64).alias("row"))
    lineage = lineage.join(place, on="key").join(place.select(old="key", old_row="row"), on="old")
    both = pl.concat([lineage.select(new="row", old="old_row"), edges])
    return both["new"].to_numpy(), both["old"].to_numpy()
