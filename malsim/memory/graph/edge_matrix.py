"""Edges as sparse matrices of support, challenge and contradiction."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from malsim.memory import schema
from malsim.memory.graph.table import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import sparse

    from malsim.memory.graph.arrays import Array
    from malsim.memory.graph.table import Table

_CONTRADICTS = schema.RELATIONS.index("contradicts")


@dataclass(frozen=True)
class Wiring:
    """The edges of some weight among `cells` rows, and the `contradicts` edges; grown when edges are added.

    Those of one writer against another stand once more, as `challengers` and `challenged`.
    """

    source: Column
    target: Column
    weight: Column
    accusers: Column
    accuseds: Column
    challengers: Column
    challenged: Column
    cells: int

    @cached_property
    def support(self) -> sparse.csr_array:
        return self._matrix(self.weight.values)

    @cached_property
    def challenge(self) -> sparse.csr_array:
        return self._matrix(-self.weight.values)

    def masses(self, worth: Array) -> tuple[Array, Array]:
        """Compute support and challenge mass of every cell from the worth of every cell as a source.

        support_i = Σ_j w_ij · worth_j over edges j → i of weight > 0, in their order; challenge likewise with −w. Masses
        have the shape of worth: (cells), or (cells, n) for n worths at once; an absent worth (NaN) counts for nothing.
        """
        mass: Array = self._entries @ nan_to_zero(worth)
        return mass[: self.cells], mass[self.cells :]

    @cached_property
    def _entries(self) -> sparse.coo_array:
        from scipy import sparse  # half of what importing the memory would take: a hook that only reads does without

        rows = self.target.values + self.cells * (self.weight.values < 0.0)
        ends = rows.astype(np.int32), self.source.values.astype(np.int32)  # half the memory to read
        return sparse.coo_array((np.abs(self.weight.values), ends), shape=(2 * self.cells, self.cells))

    def _matrix(self, weight: Array) -> sparse.csr_array:
        from scipy import sparse

        order = np.argsort(self.target.values, kind="stable")
        order = order[weight[order] > 0.0]
        starts = np.zeros(self.cells + 1, dtype=np.int32)
        np.cumsum(np.bincount(self.target.values[order], minlength=self.cells), out=starts[1:])
        source = self.source.values[order].astype(np.int32)
        return sparse.csr_array((weight[order], source, starts), shape=(self.cells, self.cells))

    def append(self, edges: Table, start: int, author: NDArray[np.int64]) -> Wiring:
        weighs = np.flatnonzero(edges.column("weight")[start:]) + start
        source, target, weight = (edges.column(name).take(weighs) for name in ("source", "target", "weight"))
        accuser, accused = accusations(edges, start)
        others = author[accuser] != author[accused]
        return Wiring(
            self.source.append(source),
            self.target.append(target),
            self.weight.append(weight),
            self.accusers.append(accuser),
            self.accuseds.append(accused),
            self.challengers.append(accuser[others]),
            self.challenged.append(accused[others]),
            len(author),
        )


def accusations(edges: Table, start: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    rows = np.flatnonzero(edges.column("relation")[start:] == _CONTRADICTS) + start
    return edges.column("source").take(rows), edges.column("target").take(rows)


def wire(edges: Table, author: NDArray[np.int64]) -> Wiring:
    source, target, weight = edges.column("source"), edges.column("target"), edges.column("weight")
    contradicts = edges.column("relation") == _CONTRADICTS
    accuser, accused = source[contradicts], target[contradicts]
    others = author[accuser] != author[accused]
    order = np.argsort(target, kind="stable")  # sums read and write memory in its order
    order = order[weight[order] != 0.0]
    return Wiring(
        Column(source[order]),
        Column(target[order]),
        Column(weight[order]),
        Column(accuser),
        Column(accused),
        Column(accuser[others]),
        Column(accused[others]),
        len(author),
    )


def nan_to_zero(values: Array) -> Array:
    """Return the values with NaN replaced by 0: a claim imported without a confidence has no weight.

    >>> nan_to_zero(np.array([0.5, np.nan])).tolist()
    [0.5, 0.0]
    """
    return np.nan_to_num(values, nan=0.0) if np.isnan(values.sum()) else values
