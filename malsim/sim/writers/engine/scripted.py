"""Claims whose times and contents are known beforehand, as columns by writer and turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import polars as pl

    from malsim.memory.graph.arrays import Array, Ints


@dataclass(frozen=True)
class Script:
    """Claims sorted by writer and time. Those of writer m are at `starts[m]` up to `starts[m + 1]` − 1."""

    names: tuple[str, ...]
    starts: Ints
    t: Ints
    fact: Ints
    value: Ints
    stated: Array

    @classmethod
    def of(cls, *, writers: pl.Series, t: Ints, fact: Ints, value: Ints, stated: Array) -> Script:
        names, member = np.unique(writers.to_numpy().astype(str), return_inverse=True)
        order = np.lexsort((t, member))
        starts = np.searchsorted(member[order], np.arange(len(names) + 1))
        return cls(tuple(names.tolist()), starts, t[order], fact[order], value[order], stated[order])

    def place(self, member: Ints, turn: Ints) -> Ints:
        """Return the index of the nth claim of each writer; past the end where there is none."""
        place = self.starts[member] + turn
        return np.where(place < self.starts[member + 1], place, len(self.t))
