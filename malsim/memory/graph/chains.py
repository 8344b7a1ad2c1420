"""Versions of a cell: which row replaced which, and the live head of a chain."""

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
    """Pairs of rows, `new` after `old`: every recorded successor, and claims that came too late to be one.

    Versions rise along them, so no chain runs in a circle; an edge written on its own raises none. `factor` is that of each
    cell's writer.
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
        while (older := self._replaced_by(chain[0])) is not None:
            chain.insert(0, older)
        while (newer := self._live_successor(chain[-1])) is not None:
            chain.append(newer)
        return chain

    def _replaced_by(self, row: int) -> int | None:
        older = self.old[self.new == row]
        return int(older.max()) if older.size else None

    def _live_successor(self, row: int) -> int | None:
        candidates = np.unique(self.new[self.old == row])
        return int(candidates[np.lexsort((candidates, self.factor[candidates]))[-1]]) if candidates.size else None
