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

__all__ = ["Wiring", "accusations", "wire"]

FEW = 20_000  # a sparse matrix of fewer entries takes longer to make than their sums
_CONTRADICTS = schema.RELATIONS.index("contradicts")


@dataclass(frozen=True)
class _Links:
    """Weighted edges into `cells` rows; those into one row are summed in their order, also where two join the same cells."""

    target: Column
    source: Column
    weight: Column
    cells: int

    @cached_property
    def entries(self) -> sparse.coo_array:
        ends = (self.target.values, self.source.values)
        return sparse.coo_array((self.weight.values, ends), shape=(self.cells, self.cells))

    def into(self, worth: NDArray[np.float64]) -> NDArray[np.float64]:
        if worth.ndim == 1 and len(self.target) < FEW:
            mass = self.weight.values * worth.take(self.source.values)
            return np.bincount(self.target.values, mass, minlength=self.cells).astype(np.float64, copy=False)
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

    def between(self, active: NDArray[np.bool_]) -> _Links:
        target, source, weight = self.target.values, self.source.values, self.weight.values
        both = np.flatnonzero(active.take(target) & active.take(source))
        return _Links(Column(target.take(both)), Column(source.take(both)), Column(weight.take(both)), self.cells)


@dataclass(frozen=True)
class Wiring:
    """The evidence edges by the sign of their weight, and the `contradicts` edges; grown when edges are added.

    When it was last weeded, `left` edges were left; of one that holds every edge it is 0.
    """

    up: _Links
    down: _Links
    _accuser: Column
    _accused: Column
    left: int = 0

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

        support_i = Σ_j w_ij · worth_j over edges j → i of weight > 0; challenge likewise with −w. Masses have the shape of
        worth: (cells), or (cells, n) for n worths at once.
        """
        return self.up.into(worth), self.down.into(worth)

    def grown(self, edges: Table, known: int, cells: int) -> Wiring:
        """The wiring of `cells` rows with the edges that follow the `known`: sums as `wire` makes of all, bit for bit."""
        source, target, weight = (edges.column(name)[known:] for name in ("source", "target", "weight"))
        accuser, accused = accusations(edges, known)
        return Wiring(
            up=self.up.grown(target, source, weight, cells),
            down=self.down.grown(target, source, -weight, cells),
            _accuser=self._accuser.grown(accuser),
            _accused=self._accused.grown(accused),
            left=self.left,
        )

    def weeded(self, active: NDArray[np.bool_]) -> Wiring:
        """Without the evidence edges that do not join two active cells, and the accusations by cells that are not active.

        It is done again only when there are a quarter more than were left the last time.
        """
        size = len(self.up.target) + len(self.down.target) + len(self._accuser)
        if 4 * size <= 5 * self.left:
            return self
        up, down = self.up.between(active), self.down.between(active)
        stands = np.flatnonzero(active.take(self.accuser))
        accuser, accused = (Column(held.take(stands)) for held in (self.accuser, self.accused))
        return Wiring(up, down, accuser, accused, len(up.target) + len(down.target) + len(accuser))


def accusations(edges: Table, known: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows (accuser, accused) of the `contradicts` edges that follow the `known`."""
    said = np.flatnonzero(edges.column("relation")[known:] == _CONTRADICTS) + known
    return edges.column("source").take(said), edges.column("target").take(said)


def wire(edges: pl.DataFrame, cells: int) -> Wiring:
    """Sparse matrices of an edges frame over `cells` rows; entries of a row keep the order of the frame."""
    source, target, weight = (edges[name].to_numpy() for name in ("source", "target", "weight"))
    contradicts: Bools = bare(edges["relation"]) == _CONTRADICTS
    order = np.argsort(target, kind="stable")  # products read and write memory in its order
    held = target[order], source[order], weight[order]
    no_row = Column(np.zeros(0, dtype=np.intp))
    none = _Links(no_row, no_row, Column(np.zeros(0)), 0)
    return Wiring(
        up=none.grown(*held, cells),
        down=none.grown(*held[:2], -held[2], cells),
        _accuser=Column(source[contradicts]),
        _accused=Column(target[contradicts]),
    )
