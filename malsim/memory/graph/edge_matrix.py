"""Sparse matrix of supporting and challenging edges, and the two ends of each contradiction."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.memory import schema
from malsim.memory.graph.table import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import sparse

    from malsim.memory.graph.arrays import Array, Ints
    from malsim.memory.graph.table import Table

_CONTRADICTS = schema.RELATIONS.index("contradicts")


@dataclass(frozen=True)
class Wiring:
    """Edges of non-zero weight between cells, and the ends of all `contradicts` edges. New edges can be appended.

    `challengers` and `challenged` are the ends of the `contradicts` edges between cells of different writers.
    """

    cells: int
    source: Column
    target: Column
    weight: Column
    accusers: Column
    accused: Column
    challengers: Column
    challenged: Column

    def masses(self, worth: Array) -> tuple[Array, Array]:
        """Compute the support mass and the challenge mass of every cell from `worth`, the confidence in each source cell.

        support_i = Σ_j w_ij · worth_j over edges j → i of weight > 0, in their order; challenge likewise with −w. Masses
        have the shape of worth, (cells) or (cells, n) for n columns of worth; an absent worth (NaN) counts as 0.
        """
        mass: Array = self._entries @ nan_to_zero(worth)
        return mass[: self.cells], mass[self.cells :]

    @cached_property
    def _entries(self) -> sparse.coo_array:
        from scipy import sparse  # imported late: scipy takes half of the package's import time, and hooks do not need it

        rows = self.target.values + self.cells * (self.weight.values < 0.0)
        # int32 is faster than int64, because half as many bytes are read.
        ends = rows.astype(np.int32), self.source.values.astype(np.int32)
        return sparse.coo_array((np.abs(self.weight.values), ends), shape=(2 * self.cells, self.cells))

    @classmethod
    def of(cls, edges: Table, author: NDArray[np.int64]) -> Wiring:
        order = np.argsort(edges.column("target"), kind="stable")  # so that sums access memory sequentially
        parts = _columns(edges, order[edges.column("weight")[order] != 0.0], 0, author)
        return cls(len(author), *map(Column, parts))

    def append(self, edges: Table, start: int, author: NDArray[np.int64]) -> Wiring:
        """Return the wiring extended by the edges from row `start` on."""
        parts = _columns(edges, np.flatnonzero(edges.column("weight")[start:]) + start, start, author)
        before = (
            self.source, self.target, self.weight, self.accusers, self.accused, self.challengers, self.challenged,
        )  # fmt: skip
        return Wiring(len(author), *(column.append(part) for column, part in zip(before, parts, strict=True)))


def _columns(edges: Table, weighted: Ints, start: int, author: NDArray[np.int64]) -> list[NDArray[Any]]:
    contradicts = np.flatnonzero(edges.column("relation")[start:] == _CONTRADICTS) + start
    accuser, accused = edges.column("source").take(contradicts), edges.column("target").take(contradicts)
    others = author[accuser] != author[accused]
    ends = [edges.column(name).take(weighted) for name in ("source", "target", "weight")]
    return [*ends, accuser, accused, accuser[others], accused[others]]


def nan_to_zero(values: Array) -> Array:
    """Replace NaN with 0, because a claim that was imported without a confidence has no weight."""
    return np.nan_to_num(values, nan=0.0) if np.isnan(values.sum()) else values
