"""The edges as sparse matrices: who supports, challenges and contradicts whom."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from malsim.memory import schema
from malsim.memory.columns import Column, bare

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from malsim.memory.numbering import Bools
    from malsim.memory.table import Table

__all__ = ["Wiring", "wire"]

_CONTRADICTS = schema.RELATIONS.index("contradicts")


@dataclass(frozen=True)
class _Links:
    """Weighted edges into `cells` rows; those into one row are summed in their order, also where two join the same cells.

    Entry by entry (COO) they grow at their end, and are multiplied faster than row by row (CSR): few rows have many.
    """

    target: Column
    source: Column
    weight: Column
    cells: int

    @cached_property
    def entries(self) -> sparse.coo_array:
        ends = (self.target.values, self.source.values)
        return sparse.coo_array((self.weight.values, ends), shape=(self.cells, self.cells))

    def into(self, worth: NDArray[np.float64]) -> NDArray[np.float64]:
        summed: NDArray[np.float64] = self.entries @ worth
        return summed.reshape(worth.shape)  # a product of one row comes as a bare number

    @cached_property
    def rows(self) -> sparse.csr_array:
        order = np.argsort(self.target.values, kind="stable")
        starts = np.zeros(self.cells + 1, dtype=np.int32)
        np.cumsum(np.bincount(self.target.values, minlength=self.cells), out=starts[1:])
        held = (self.weight.values[order], self.source.values[order], starts)
        return sparse.csr_array(held, shape=(self.cells, self.cells))

    def grown(self, target: NDArray[np.int64], source: NDArray[np.int64], weight: NDArray[np.float64], cells: int) -> _Links:
        use = weight > 0.0
        return _Links(self.target.grown(target[use]), self.source.grown(source[use]), self.weight.grown(weight[use]), cells)


@dataclass(frozen=True)
class Wiring:
    """The evidence edges by the sign of their weight, and the `contradicts` edges; grown when edges are added."""

    up: _Links
    down: _Links
    _accuser: Column
    _accused: Column

    @property
    def support(self) -> sparse.csr_array:
        """Rows are targets, columns are sources, entries are weights > 0."""
        return self.up.rows

    @property
    def challenge(self) -> sparse.csr_array:
        """As `support`, of the edges of weight < 0, without their sign."""
        return self.down.rows

    @property
    def accuser(self) -> NDArray[np.int64]:
        """Rows of those that contradict, in edge order."""
        return self._accuser.values

    @property
    def accused(self) -> NDArray[np.int64]:
        """Rows of those contradicted, in edge order."""
        return self._accused.values

    def masses(self, worth: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Support and challenge mass of every cell, from what every cell is worth as a source.

        support_i = Σ_j w_ij · worth_j over edges j → i of weight > 0; challenge likewise with −w.
        """
        return self.up.into(worth), self.down.into(worth)

    def grown(self, edges: Table, known: int, cells: int) -> Wiring:
        """The wiring of `cells` rows with the edges that follow the `known`: sums as `wire` makes of all, bit for bit."""
        source, target, weight, relation = (
            edges.column(name)[known:] for name in ("source", "target", "weight", "relation")
        )
        contradicts: Bools = relation == _CONTRADICTS
        return Wiring(
            up=self.up.grown(target, source, weight, cells),
            down=self.down.grown(target, source, -weight, cells),
            _accuser=self._accuser.grown(source[contradicts]),
            _accused=self._accused.grown(target[contradicts]),
        )


def wire(edges: pl.DataFrame, cells: int) -> Wiring:
    """Sparse matrices of an edges frame over `cells` rows; entries of a row keep the order of the frame."""
    source, target, weight = (edges[name].to_numpy() for name in ("source", "target", "weight"))
    contradicts: Bools = bare(edges["relation"]) == _CONTRADICTS
    order = np.argsort(target, kind="stable")  # products read and write memory in its order
    held = target[order], source[order], weight[order]
    no_row = Column(np.zeros(0, dtype=np.int32))
    none = _Links(no_row, no_row, Column(np.zeros(0)), 0)
    return Wiring(
        up=none.grown(*held, cells),
        down=none.grown(*held[:2], -held[2], cells),
        _accuser=Column(source[contradicts]),
        _accused=Column(target[contradicts]),
    )
