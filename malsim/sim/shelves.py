"""Shelves: for each topic of each replication, the cells that a push may show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.memory.index import NONE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.sim.occasion import Bools, Ints

__all__ = ["Shelves", "places_within"]


class Shelves:
    """Which cells lie on each shelf, in the order of their rows; a cell may belong on several, and lies there while listed.

    Few cells move between two turns, so that only shelves from which or to which one moved are set in order anew.

    >>> shelves = Shelves(2)
    >>> shelves.put(np.array([0, 1]), np.array([[1, NONE], [0, 1]]))
    >>> shelves.stock(np.array([True, True]))
    >>> shelves.of(np.array([1, 0])).tolist()
    [[0, 1, -1], [1, -1, -1]]
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

    def of(self, shelf: Ints) -> Ints:
        """The listed cells of each shelf, shape (shelves, most of them and one more), NONE behind them."""
        return self._table[shelf, : int(self._held[shelf].max(initial=0)) + 1]

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
        touched = np.zeros(len(self._table), dtype=bool)
        touched[shelf] = True
        shelves = np.flatnonzero(touched)
        held = self.of(shelves)
        comes = np.flatnonzero(listed[cell])
        new = _spread(cell[comes], (np.cumsum(touched) - 1)[shelf[comes]], len(shelves))
        self._order(shelves, np.concatenate([np.where(listed[held], held, NONE), new], axis=1))

    def _order(self, shelves: Ints, held: Ints) -> None:
        """Put the cells of these shelves in order."""
        ordered = np.sort(held.view(np.uint64), axis=1).view(np.int64)  # NONE, without its sign, is the largest of all
        count = (ordered != NONE).sum(axis=1)
        most = int(count.max(initial=0)) + 1
        if most > self._table.shape[1]:
            self._table = np.pad(self._table, ((0, 0), (0, most)), constant_values=NONE)
        self._table[shelves] = NONE
        self._table[shelves, :most] = ordered[:, :most]
        self._held[shelves] = count


def _spread(value: Ints, row: Ints, rows: int) -> Ints:
    """A table with each value in its row, in the order given, NONE behind them."""
    place = places_within(row)
    table = np.full((rows, int(place.max(initial=-1)) + 2), NONE, dtype=np.int64)
    table[row, place] = value
    return table


def places_within(group: NDArray[Any]) -> Ints:
    """How many earlier rows are of each row's group.

    >>> places_within(np.array([3, 0, 3, 3])).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(group, kind="stable")
    sorted_ = group[order]
    places = np.empty(len(group), dtype=np.int64)
    places[order] = np.arange(len(group)) - np.searchsorted(sorted_, sorted_)
    return places
