"""Index from each topic of each replication to the cells that a push may show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.graph.frames import rank_within_group
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Bools, Ints


class TopicIndex:
    """Index from topics to listed cells, in the order of their rows. A cell can have several topics.

    Few cells move between two turns, so that only topics from which or to which one moved are sorted anew.

    >>> index = TopicIndex(2)
    >>> index.put(np.array([0, 1]), np.array([[1, NONE], [0, 1]]))
    >>> index.update(np.array([True, True]))
    >>> cells, count = index.of(np.array([1, 0]))
    >>> cells.tolist(), count.tolist()
    ([0, 1, 1], [2, 1])
    """

    def __init__(self, topics: int) -> None:
        self._under = np.full((64, 1), NONE, dtype=np.int64)  # the topics of each cell
        self._table = np.full((topics, 8), NONE, dtype=np.int64)
        self._size = np.zeros(topics, dtype=np.int64)
        self._listed = np.zeros(0, dtype=bool)

    def put(self, cell: Ints, under: Ints) -> None:
        """Add new cells with their topics, shape (cells, largest number of topics), padded with NONE."""
        rows, width = self._under.shape
        more = max(int(cell.max(initial=-1)) + 1 - rows, 0), max(under.shape[1] - width, 0)
        if any(more):
            self._under = np.pad(self._under, ((0, rows + more[0]), (0, more[1])), constant_values=NONE)
        self._under[cell, : under.shape[1]] = under

    def of(self, topic: Ints) -> tuple[Ints, Ints]:
        """Return the listed cells of each topic, concatenated by topic, and the number of cells of each."""
        count = self._size[topic]
        first = count.cumsum() - count
        place = np.repeat(topic * self._table.shape[1] - first, count) + np.arange(int(count.sum()))
        return self._table.take(place), count

    def update(self, listed: Bools) -> None:
        if listed is self._listed:
            return
        moved = listed.copy()
        moved[: len(self._listed)] ^= self._listed
        cells = np.flatnonzero(moved)
        at, nth = np.nonzero(self._under[cells] != NONE)
        self._listed = listed
        if not at.size:
            return
        cell, topic = cells[at], self._under[cells[at], nth]
        comes, goes = np.flatnonzero(listed[cell]), np.flatnonzero(~listed[cell])
        self._append(cell[comes], topic[comes])
        self._size -= np.bincount(topic[goes], minlength=len(self._size))
        touched = np.zeros(len(self._table), dtype=bool)
        touched[topic] = True
        self._order(np.flatnonzero(touched))

    def _append(self, cell: Ints, topic: Ints) -> None:
        place = self._size[topic] + rank_within_group(topic)
        more = int(place.max(initial=0)) + 1 - self._table.shape[1]
        if more > 0:
            self._table = np.pad(self._table, ((0, 0), (0, more)), constant_values=NONE)
        self._table[topic, place] = cell
        self._size += np.bincount(topic, minlength=len(self._size))

    def _order(self, topics: Ints) -> None:
        cells = self._table.take(topics, axis=0)
        cells = np.where(self._listed.take(cells), cells, NONE)
        cells.view(np.uint64).sort(axis=1)  # NONE, without its sign, is the largest of all
        self._table[topics] = cells
