"""Columns as arrays: kept beside the frames, in memory with room behind them, and grown along."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from malsim.memory import schema
from malsim.memory.frames import places
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Column", "Rows", "bare", "counted", "dressed", "place_of", "places_within"]

Rows: TypeAlias = "NDArray[np.int64] | slice"


class Column:
    """A read-only array from which others come; it never changes itself.

    What is appended lies behind it in the same room. What is changed is changed in place, so long as nobody was shown the
    values that the room holds; a column from before then finds its own in the room's journal.

    >>> column = Column(np.array([0.5]))
    >>> column.grown(np.array([0.6])).values.tolist(), column.grown(np.array([0.7])).values.tolist(), column.values.tolist()
    ([0.5, 0.6], [0.5, 0.7], [0.5])
    """

    def __init__(self, values: NDArray[Any], room: _Room | None = None) -> None:
        self._stand_in(room or _Room(values, len(values), shown=True), len(values))

    def _stand_in(self, room: _Room, length: int) -> None:
        self._room, self._length, self._written = room, length, len(room.journal)

    @property
    def values(self) -> NDArray[Any]:
        """All rows."""
        if self._written < len(self._room.journal):
            self._stand_in(self._copied(self._length), self._length)
        self._room.shown = True
        shown = self._room.held[: self._length]
        shown.flags.writeable = False
        return shown

    def __len__(self) -> int:
        return self._length

    def at(self, rows: Rows) -> NDArray[Any]:
        """Some rows."""
        if isinstance(rows, slice):
            return self.values[rows]
        found = self._room.held.take(rows)
        for changed, before in reversed(self._room.journal[self._written :]):
            was_changed = np.zeros(self._room.filled, dtype=bool)
            was_changed[changed] = True
            hit = np.flatnonzero(was_changed[rows])
            if hit.size:
                order = np.argsort(changed)
                found[hit] = before[order[np.searchsorted(changed, rows[hit], sorter=order)]]
        return found

    def grown(self, new: ArrayLike) -> Column:
        """The column with more values behind its own."""
        added = np.asarray(new)
        if not added.size:
            return self
        start, end, room = self._length, self._length + len(added), self._room
        if room.filled != start or end > len(room.held) or self._written < len(room.journal):
            room = self._copied(end)
        room.held[start:end] = added
        room.filled = end
        return Column(room.held[:end], room)

    def changed(self, rows: NDArray[np.int64], values: ArrayLike) -> Column:
        """The column with other values in some rows."""
        if not len(rows):
            return self
        room = self._room
        if room.shown or room.is_worn or self._written < len(room.journal):
            room = self._copied(self._length)
        else:
            room.journal.append((rows.copy(), room.held[rows]))
        room.held[rows] = values
        return Column(room.held[: self._length], room)

    def copy(self) -> NDArray[Any]:
        """All rows, as an array of one's own."""
        return self._copied(self._length).held[: self._length]

    def _copied(self, end: int) -> _Room:
        """A room of its own for these values, with space up to `end` and half as much again behind it."""
        room = _Room(np.empty(end + end // 2, dtype=self._room.held.dtype), self._length)
        room.held[: self._length] = self._room.held[: self._length]
        for rows, before in reversed(self._room.journal[self._written :]):
            own = rows < self._length
            room.held[rows[own]] = before[own]
        return room


class _Room:
    """A piece of memory: so much of it is `filled`; once it was `shown`, what is filled is never written again.

    The `journal` tells of every change in place which rows it wrote and what they held before.
    """

    __slots__ = ("filled", "held", "journal", "shown")

    def __init__(self, held: NDArray[Any], filled: int, *, shown: bool = False) -> None:
        self.held, self.filled, self.shown = held, filled, shown
        self.journal: list[tuple[NDArray[np.int64], NDArray[Any]]] = []

    @property
    def is_worn(self) -> bool:
        """Whether the journal has become so long that a copy is the lighter thing."""
        return len(self.journal) >= MOST_ENTRIES


MOST_ENTRIES = 64


def bare(series: pl.Series) -> NDArray[Any]:
    """A column of cells, edges or claims as an array: numbers, truths and texts as they are, words by their place.

    A null is NaN or NONE, of texts None.

    >>> bare(pl.Series("status", ["annexed", "active"])).tolist(), bare(pl.Series("successor", [4, None])).tolist()
    ([2, 0], [4, -1])
    """
    if (words := _PLACES.get(series.name)) is not None:
        if len(series) < FEW:
            return np.array([words[word] for word in series.to_list()], dtype=np.intp)
        series = series.to_physical()
    elif series.name in _ROWS and series.null_count():
        if series.null_count() == len(series):
            return np.full(len(series), NONE, dtype=np.intp)
        series = series.fill_null(NONE)
    held = series.to_numpy()
    return held if held.dtype in _AS_THEY_ARE else held.astype(np.intp)  # numpy takes by nothing else as fast


def dressed(name: str, values: NDArray[Any]) -> pl.Series:
    """A column as a frame of cells, edges or writers holds it, from the array that `bare` makes of it.

    >>> dressed("status", np.array([2, 0])).to_list(), dressed("successor", np.array([4, -1])).to_list()
    (['annexed', 'active'], [4, None])
    """
    if name in _PLACES:
        return pl.Series(name, list(_PLACES[name]), dtype=_KINDS[name])[places(values)]
    series = pl.Series(name, values).cast(_KINDS[name])
    if name == "successor":
        return series.set(series == NONE, None)
    return series.fill_nan(None) if name == "read" else series


def place_of(name: str, value: ArrayLike) -> ArrayLike:
    """What `bare` makes of one word of a column; of anything else, that itself.

    >>> place_of("status", "annexed"), place_of("version", 3)
    (2, 3)
    """
    return _PLACES[name][value] if isinstance(value, str) else value


FEW = 1_000  # words are sooner looked up one by one than a query is made
_AS_THEY_ARE = (np.dtype(np.float64), np.dtype(np.bool_), np.dtype(np.intp), np.dtype(np.object_))
_ROWS = ("author", "successor")
_KINDS = schema.CELLS | schema.EDGES | schema.WRITERS
_PLACES = {
    name: {word: place for place, word in enumerate(kind.categories)}
    for name, kind in _KINDS.items()
    if isinstance(kind, pl.Enum)
}
_PLACES |= {f"{name}_word": _PLACES[name] for name in schema.WORDS}


def counted(before: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.int64]:
    """How often each place was met, `before` and in `places`.

    >>> counted(np.array([1, 0]), np.array([2, 0, 2])).tolist()
    [2, 0, 2]
    """
    count = np.bincount(places, minlength=len(before))
    count[: len(before)] += before
    return count


def places_within(group: NDArray[Any]) -> NDArray[np.int64]:
    """How many earlier rows are of each row's group.

    >>> places_within(np.array([3, 0, 3, 3])).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(group, kind="stable")
    sorted_ = group[order]
    places = np.empty(len(group), dtype=np.int64)
    places[order] = np.arange(len(group)) - np.searchsorted(sorted_, sorted_)
    return places
