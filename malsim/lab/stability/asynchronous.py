"""Asynchronous tick: cells are updated one after another, without a snapshot."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy import sparse

from malsim.lab.stability.loop import TickLoop
from malsim.memory.graph.index import scattered

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from malsim.lab.stability.loop import Array
    from malsim.memory import Memory, Rules


def asynchronous(loop: TickLoop) -> Callable[[Array], Array]:
    """Return a tick in which each cell reads the updated values of the cells before it (Gauss-Seidel).

    The order is a fixed scatter of the cells; those whose turn does not wait for one another are stepped together.
    """
    if not isinstance(loop.challenge_ceiling, float | int) or not isinstance(loop.support_ceiling, float | int):
        raise TypeError("one loop at a time")
    of_level = levels(sparse.csr_array(loop.support + loop.challenge))
    parts = [_Part(loop, np.flatnonzero(of_level == level)) for level in range(int(of_level.max(initial=-1)) + 1)]

    def tick(worth: Array) -> Array:
        after = worth.copy()
        for part in parts:
            after[part.rows] = part.fresh(after)
        return after

    return tick


class _Part:
    """Cells of a loop that have no edges between each other."""

    def __init__(self, loop: TickLoop, rows: NDArray[np.int64]) -> None:
        self.rows, self.sources = rows, loop.stated if loop.from_stated else None
        self.loop = replace(
            loop,
            stated=loop.stated[rows],
            factor=loop.factor[rows],
            active=loop.active[rows],
            start=loop.start[rows],
            support=sparse.csr_array(loop.support[rows]),
            challenge=sparse.csr_array(loop.challenge[rows]),
        )

    def fresh(self, worth: Array) -> Array:
        """Return the new values of these cells, given the current values of all cells."""
        sources = worth if self.sources is None else self.sources
        here = worth[self.rows]
        new = np.where(self.loop.active, self.loop.worth(self.loop.support @ sources, self.loop.challenge @ sources), here)
        return here + self.loop.damping * (new - here)


def settle_one_by_one(memory: Memory, rules: Rules) -> Memory:
    """Return the memory settled by asynchronous ticks, starting from stated × calibration."""
    loop = TickLoop.of(memory, rules)
    step, worth = asynchronous(loop), loop.start
    for _ in range(rules.settle_ticks):
        worth, last = step(worth), worth
        if np.abs(worth - last).max(initial=0.0) <= rules.settle_tolerance:
            break
    return memory.with_cells(memory.cells.with_columns(pl.Series("effective", worth)))


def levels(graph: sparse.csr_array) -> NDArray[np.int64]:
    """Return the update level of each cell: after all its neighbours that precede it in a fixed permutation of the rows.

    >>> levels(sparse.csr_array(np.array([[0, 1], [1, 0]]))).tolist()
    [0, 1]
    """
    count = graph.shape[0]
    ends = (graph + graph.T).tocoo()
    apart = ends.row != ends.col
    one, other = ends.row[apart], ends.col[apart]
    rank = np.empty(count, dtype=np.int64)
    rank[np.argsort(scattered(np.arange(count, dtype=np.uint64)), kind="stable")] = np.arange(count)
    turn, level = np.full(count, -1, dtype=np.int64), 0
    while (waiting := turn < 0).any():
        later = np.zeros(count, dtype=bool)
        later[one[waiting[one] & waiting[other] & (rank[other] < rank[one])]] = True
        turn[waiting & ~later] = level
        level += 1
    return turn
