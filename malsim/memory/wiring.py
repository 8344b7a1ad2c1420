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
    from malsim.memory.scores import Array
    from malsim.memory.table import Table

__all__ = ["Wiring", "accusations", "wire"]

FEW = 40_000  # a sparse matrix of fewer entries takes longer to make than their sums
_CONTRADICTS = schema.RELATIONS.index("contradicts")


@dataclass(frozen=True)
class Wiring:
    """The edges of some weight among `cells` rows, and the `contradicts` edges; grown when edges are added.

    When it was last weeded, `left` edges were left; of one that holds every edge it is 0.
    """

    source: Column
    target: Column
    weight: Column
    _accuser: Column
    _accused: Column
    cells: int
    left: int = 0

    @cached_property
    def support(self) -> sparse.csr_array:
        """Rows are targets, columns are sources, entries are weights > 0."""
        return self._matrix(self.weight.values)

    @cached_property
    def challenge(self) -> sparse.csr_array:
        """As `support`, of the edges of weight < 0, without their sign."""
        return self._matrix(-self.weight.values)

    @property
    def accuser(self) -> NDArray[np.int64]:
        """Rows of those that contradict, in edge order."""
        return self._accuser.values

    @property
    def accused(self) -> NDArray[np.int64]:
        """Rows of those contradicted, in edge order."""
        return self._accused.values

    def masses(self, worth: Array, heard: Bools | None = None) -> tuple[Array, Array]:
        """Support and challenge mass of every cell, from what every cell is worth as a source.

        support_i = Σ_j w_ij · worth_j over edges j → i of weight > 0, in their order; challenge likewise with −w. Cells that
        are not `heard` count for nothing. Masses have the shape of worth: (cells), or (cells, n) for n worths at once.
        """
        if worth.ndim > 1 or len(self.weight) >= FEW:
            summed: Array = self._entries @ (worth if heard is None else worth * heard)
        else:
            source = self.source.values
            mass = np.abs(self.weight.values) * worth.take(source)
            mass = mass if heard is None else mass * heard.take(source)
            summed = np.bincount(self._sums, mass, minlength=2 * self.cells).astype(np.float64, copy=False)
        return summed[: self.cells], summed[self.cells :]

    @property
    def _sums(self) -> NDArray[np.int64]:
        """Of each edge the sum that it adds to: its target's support, or behind those of all cells its challenge."""
        rows: NDArray[np.int64] = self.target.values + self.cells * (self.weight.values < 0.0)
        return rows

    @cached_property
    def _entries(self) -> sparse.coo_array:
        ends = self._sums.astype(np.int32), self.source.values.astype(np.int32)  # half the memory to read
        return sparse.coo_array((np.abs(self.weight.values), ends), shape=(2 * self.cells, self.cells))

    def _matrix(self, weight: Array) -> sparse.csr_array:
        """The edges of weight > 0, row by row; those that join the same cells stay apart."""
        order = np.argsort(self.target.values, kind="stable")
        order = order[weight[order] > 0.0]
        starts = np.zeros(self.cells + 1, dtype=np.int32)
        np.cumsum(np.bincount(self.target.values[order], minlength=self.cells), out=starts[1:])
        source = self.source.values[order].astype(np.int32)
        return sparse.csr_array((weight[order], source, starts), shape=(self.cells, self.cells))

    def grown(self, edges: Table, known: int, cells: int) -> Wiring:
        """The wiring of `cells` rows with the edges that follow the `known`: sums as `wire` makes of all, bit for bit."""
        weighs = np.flatnonzero(edges.column("weight")[known:]) + known
        source, target, weight = (edges.column(name).take(weighs) for name in ("source", "target", "weight"))
        accuser, accused = accusations(edges, known)
        return Wiring(
            self.source.grown(source),
            self.target.grown(target),
            self.weight.grown(weight),
            self._accuser.grown(accuser),
            self._accused.grown(accused),
            cells,
            self.left,
        )

    def weeded(self, active: Bools) -> Wiring:
        """Without the evidence edges that do not join two active cells, and the accusations by cells that are not active.

        It is done again only when there are a quarter more than were left the last time.
        """
        if 4 * (len(self.weight) + len(self._accuser)) <= 5 * self.left:
            return self
        both = np.flatnonzero(active.take(self.source.values) & active.take(self.target.values))
        stands = np.flatnonzero(active.take(self.accuser))
        source, target, weight = (Column(held.values.take(both)) for held in (self.source, self.target, self.weight))
        accuser, accused = (Column(held.take(stands)) for held in (self.accuser, self.accused))
        return Wiring(source, target, weight, accuser, accused, self.cells, left=len(both) + len(stands))


def accusations(edges: Table, known: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows (accuser, accused) of the `contradicts` edges that follow the `known`."""
    said = np.flatnonzero(edges.column("relation")[known:] == _CONTRADICTS) + known
    return edges.column("source").take(said), edges.column("target").take(said)


def wire(edges: pl.DataFrame, cells: int) -> Wiring:
    """The wiring of an edges frame over `cells` rows; edges into one row keep the order of the frame."""
    ends, weight = [bare(edges[name]) for name in ("source", "target")], edges["weight"].to_numpy()
    contradicts: Bools = bare(edges["relation"]) == _CONTRADICTS
    accuser, accused = (Column(rows[contradicts]) for rows in ends)
    order = np.argsort(ends[1], kind="stable")  # sums read and write memory in its order
    order = order[weight[order] != 0.0]
    source, target = (Column(rows[order]) for rows in ends)
    return Wiring(source, target, Column(weight[order]), accuser, accused, cells)
