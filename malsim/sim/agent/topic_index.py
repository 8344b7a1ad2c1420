"""Shelves: for each topic of each replication, the cells that a push may show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.graph.frames import places_within
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from malsim.sim.engine.claim_context import Bools, Ints

__all__ = ["Shelves"]


class Shelves:
    """Which cells lie on each shelf, in the order of their rows; a cell may belong on several, and lies there while listed.

    Few cells move between two turns, so that only shelves from which or to which one moved are set in order anew.

    >>> shelves = Shelves(2)
    >>> shelves.put(np.array([0, 1]), np.array([[1, NONE], [0, 1]]))
    >>> shelves.stock(np.array([True, True]))
    >>> cells, count = shelves.of(np.array([1, 0]))
    >>> cells.tolist(), count.tolist()
    ([0, 1, 1], [2, 1])
    """

    def __init__(self, shelves: int) -> None:
        self._under = np.full((64, 1), NONE, dtype=np.int64)  # where each cell belongs
        self._table = np.full((shelves, 8), NONE, dtype=np.int64)
        self._held = np.zeros(shelves, dtype=np.int64)
        self._listed = np.zeros(0, dtype=bool)

    def put(self, cell: Ints, under: Ints) -> None:
        """Say of new cells where they belong: their shelves, shape (cells, most of any), NONE for no more."""
        rows, width = self._under.shape
        more = max(int(cell.max(initial=-1)) + 1 - rows, 0), max(under.shape[1] - width, 0)
        if any(more):
            self._under = np.pad(self._under, ((0, rows + more[0]), (0, more[1])), constant_values=NONE)
        self._under[cell, : under.shape[1]] = under

    def of(self, shelf: Ints) -> tuple[Ints, Ints]:
        """The listed cells of each shelf, one shelf after the other, and how many each holds."""
        count = self._held[shelf]
        first = count.cumsum() - count
        place = np.repeat(shelf * self._table.shape[1] - first, count) + np.arange(int(count.sum()))
        return self._table.take(place), count

    def stock(self, listed: Bools) -> None:
        """Have on the shelves the cells that are listed, of all that were put, and no others."""
        if listed is self._listed:
            return
        moved = listed.copy()
        moved[: len(self._listed)] ^= self._listed
        cells = np.flatnonzero(moved)
        at, nth = np.nonzero(self._under[cells] != NONE)
        self._listed = listed
        if not at.size:
            return
        cell, shelf = cells[at], self._under[cells[at], nth]
        comes, goes = np.flatnonzero(listed[cell]), np.flatnonzero(~listed[cell])
        self._append(cell[comes], shelf[comes])
        self._held -= np.bincount(shelf[goes], minlength=len(self._held))
        touched = np.zeros(len(self._table), dtype=bool)
        touched[shelf] = True
        self._order(np.flatnonzero(touched))

    def _append(self, cell: Ints, shelf: Ints) -> None:
        """Put cells behind those that lie on their shelves."""
        place = self._held[shelf] + places_within(shelf)
        more = int(place.max(initial=0)) + 1 - self._table.shape[1]
        if more > 0:
            self._table = np.pad(self._table, ((0, 0), (0, more)), constant_values=NONE)
        self._table[shelf, place] = cell
        self._held += np.bincount(shelf, minlength=len(self._held))

    def _order(self, shelves: Ints) -> None:
        """Put the listed cells of these shelves in order, and take the others away."""
        held = self._table.take(shelves, axis=0)
        kept = np.where(self._listed.take(held), held, NONE)
        kept.view(np.uint64).sort(axis=1)  # NONE, without its sign, is the largest of all
        self._table[shelves] = kept
