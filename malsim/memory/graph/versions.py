"""Versions of cells: chains of rows that replaced one another, and their live heads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Versions:
    """Pairs of rows in which `new` replaces `old`, recorded as a successor or by a later `supersedes` edge.

    Version numbers increase within a pair, so no chain is circular; edges added without a claim do not increase them.
    `factor` is the calibration factor of each cell's writer.
    """

    new: NDArray[np.int64]
    old: NDArray[np.int64]
    factor: NDArray[np.float64]

    @classmethod
    def of(
        cls, successor: NDArray[np.int64], version: NDArray[np.int64], edges: pl.DataFrame, factor: NDArray[np.float64]
    ) -> Versions:
        late = edges.filter(pl.col("relation") == "supersedes")
        old = np.flatnonzero(successor != NONE)
        new = np.concatenate([successor[old], late["source"].to_numpy()])
        old = np.concatenate([old, late["target"].to_numpy()])
        rises = version[new] > version[old]
        return cls(new[rises], old[rises], factor)

    def chain(self, row: int) -> list[int]:
        chain = [row]
        while (older := self.old[self.new == chain[0]]).size:
            chain.insert(0, int(older.max()))
        while (newer := np.unique(self.new[self.old == chain[-1]])).size:
            chain.append(int(newer[np.lexsort((newer, self.factor[newer]))[-1]]))
        return chain
