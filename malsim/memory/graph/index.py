"""Where names, contents and writers are found: one index grown along with a memory and shared by those that came of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.schema import KINDS, NONE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from malsim.memory.graph.table import Pile

__all__ = ["Index"]

_MADE = re.compile(rf"(?:{'|'.join(KINDS)})_[0-9a-f]{{4,}}")  # every handle that is made of a cell's place is of this form


class Index:
    """Rows of cells by handle, key and content hash, and of writers by name.

    It only ever grows, so a memory of `height` cells reads past none of its own.

    `grown` hands the same index on; a second memory grown from the same ancestor gets one of its own. Names and contents
    are read when one is first sought: a run whose claims name rows, and are known to say something new, seeks none.
    """

    def __init__(self, cells: Pile, writers: Pile) -> None:
        self._handles: dict[int, dict[str | None, int]] = {}  # by replication
        self._keys: dict[int, dict[str | None, int]] = {}
        self._contents: dict[int, int] = {}  # the first row of each
        self._again: dict[int, list[int]] = {}  # the later ones, of the few that have any
        self._rows_of_writers: dict[tuple[int, str], int] = {}
        self._cells, self._writers, self._height = cells, writers, cells.height
        self._named = self._read = 0  # of how many cells the names and the contents are known
        self._own: set[str] | None = None if cells.height else set()  # that could be made; None: not known

    def grown(self, cells: Pile, writers: Pile, new: tuple[int, int], own: Sequence[str]) -> Index:
        """An index of `cells` and `writers`, of which so many are `new`: this one, unless another memory has grown from it.

        `own` are the new cells' names that are not made of their places alone.
        """
        if (self._height, self._writers.height) != (cells.height - new[0], writers.height - new[1]):
            return Index(cells, writers)
        if self._own is not None:
            self._own.update(name for name in own if _MADE.fullmatch(name))
        self._cells, self._writers, self._height = cells, writers, cells.height
        return self

    def _names(self) -> tuple[dict[int, dict[str | None, int]], ...]:
        """Rows by replication and name: by key, by handle."""
        if self._named < self._height:
            cells = self._cells.since(self._named)
            reps = cells["rep"].to_list()
            for held, column in ((self._handles, "handle"), (self._keys, "key")):
                for row, (rep, name) in enumerate(zip(reps, cells[column].to_list(), strict=True), self._named):
                    held.setdefault(rep, {}).setdefault(name, row)
            self._named = self._height
        return self._keys, self._handles

    @property
    def leaves_made_names_free(self) -> bool:
        """Whether surely no cell bears, as a name of its own, one that is made of another's place."""
        return self._own is not None and not self._own

    def are_free(self, reps: Sequence[int], names: Sequence[str], *, height: int) -> bool:
        """Whether no cell below `height` bears any of these names, which are made of their new cells' places."""
        if self._own is not None:
            return self._own.isdisjoint(names)
        return bool((self.rows(reps, names, height=height) == NONE).all())

    def rows(self, reps: Sequence[int], names: Sequence[str | None], *, height: int) -> NDArray[np.int64]:
        """The first row below `height` that bears each name as its key or else its handle, NONE where none does."""
        by_key, by_handle = (
            np.array([held.get(rep, _NOBODY).get(name, NONE) for rep, name in zip(reps, names, strict=True)], dtype=np.int64)
            for held in self._names()
        )
        by_handle = np.where(by_handle < height, by_handle, NONE)
        return np.where((by_key != NONE) & (by_key < height), by_key, by_handle)

    def bears(self, rep: int, name: str, *, height: int) -> bool:
        """Whether a cell below `height` bears a name as its key or its handle."""
        return any(held.get(rep, _NOBODY).get(name, height) < height for held in self._names())

    def alike(self, contents: Sequence[int], *, height: int) -> list[tuple[int, int]]:
        """(place, row) of every cell below `height` whose content hash stands at a place of `contents`."""
        if self._read < self._height:
            self._read_contents()
        held, again = self._contents, self._again
        if held.keys().isdisjoint(contents):
            return []
        return [
            (place, row)
            for place, content in enumerate(contents)
            if content in held
            for row in (held[content], *again.get(content, ()))
            if row < height
        ]

    def _read_contents(self) -> None:
        """The first row of each content, and the later ones of the few that have any."""
        contents = self._cells.column("content", self._read)
        rows = dict(zip(contents.tolist(), range(self._read, self._height), strict=True))
        if len(rows) == len(contents) and self._contents.keys().isdisjoint(rows):
            self._contents |= rows
        else:
            for row, content in enumerate(contents.tolist(), self._read):
                if self._contents.setdefault(content, row) != row:
                    self._again.setdefault(content, []).append(row)
        self._read = self._height

    def authors(self, reps: Sequence[int], names: Sequence[str], *, height: int) -> NDArray[np.int64]:
        """The row below `height` of each writer; new ones are numbered from `height` on as they appear."""
        held, new = self._rows_of_writers, dict[tuple[int, str], int]()
        if len(held) < self._writers.height:
            unread = (self._writers.column(name, len(held)).tolist() for name in ("rep", "writer"))
            held.update(zip(zip(*unread, strict=True), range(len(held), self._writers.height), strict=True))
        rows = np.array([held.get(name, NONE) for name in zip(reps, names, strict=True)], dtype=np.int64)
        for place in np.flatnonzero((rows == NONE) | (rows >= height)).tolist():
            rows[place] = new.setdefault((reps[place], names[place]), height + len(new))
        return rows


_NOBODY: dict[str | None, int] = {}
