"""Rounds of claims or queries: round k processes the k-th member of every group, with that group's live items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.graph.frames import rank_within_group

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.memory.graph.arrays import Bools, Ints

MOST_CELLS = 1 << 21  # maximum number of matrix cells per round; larger rounds are split by the number of items per group


class Lists:
    """Rows of each group's live items, in order of creation, with room for `more` additional rows per group.

    `group` holds the group of each row in `rows`.
    """

    def __init__(self, group: Ints, rows: Ints, more: Ints) -> None:
        self.count = np.bincount(group, minlength=len(more))
        room = self.count + more
        self._start = np.cumsum(room) - room
        self._rows = np.zeros(int(room.sum()), dtype=np.int64)
        self._rows[self._start[group] + rank_within_group(group)] = rows

    def matrix(self, groups: Ints) -> tuple[Ints, Bools]:
        """Return a padded matrix with the items of one group per row, and a mask of the valid entries."""
        count = self.count[groups]
        index = np.arange(count.max(initial=0))
        mask = index < count[:, None]
        return self._rows[np.where(mask, self._start[groups][:, None] + index, 0)], mask

    def add(self, groups: Ints, rows: Ints) -> None:
        self._rows[self._start[groups] + self.count[groups]] = rows
        self.count[groups] += 1

    def keep(self, groups: Ints, rows: Ints, mask: Bools) -> None:
        line, _ = np.nonzero(mask)
        self._rows[self._start[groups][line] + rank_within_group(line)] = rows[mask]
        self.count[groups] = np.count_nonzero(mask, axis=1)


def rounds(group: Ints, lists: Lists) -> Iterator[Ints]:
    """Yield the members of each round: at most one per group, in order within each group.

    >>> [round.tolist() for round in rounds(np.array([0, 0, 1]), Lists(*np.zeros((2, 0), dtype=int), np.array([2, 1])))]
    [[0, 2], [1]]
    """
    turn = rank_within_group(group)
    order = np.argsort(turn, kind="stable")
    ends = np.cumsum(np.bincount(turn))
    for begin, end in zip([0, *ends.tolist()], ends.tolist(), strict=False):
        yield from _parts(order[begin:end], group, lists)


def _parts(members: Ints, group: Ints, lists: Lists) -> Iterator[Ints]:
    count = lists.count[group[members]]
    if len(members) * count.max(initial=0) <= MOST_CELLS:
        yield members
        return
    size = np.frexp(count)[1]
    for exponent in np.unique(size).tolist():
        yield members[size == exponent]


def table(group: Ints) -> Ints:
    """Return a matrix with one row per group that lists the group's members, padded with -1.

    >>> table(np.array([3, 5, 3, 3])).tolist()
    [[0, 2, 3], [1, -1, -1]]
    """
    _, line = np.unique(group, return_inverse=True)
    members = np.full((line.max(initial=-1) + 1, np.bincount(line).max(initial=0)), -1)
    members[line, rank_within_group(line)] = np.arange(len(group))
    return members
