"""Tables that grow and change: typed columns, appended with room to spare, and never changed under their holder."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory.graph.frames import LazyRows, join_rows, place_of, stack_rows, to_series, with_columns
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike, NDArray


class Column:
    """Read-only values from which other columns come; a column never changes itself.

    New values are appended behind it in the same room, if nobody has appended there before; a change makes a copy.

    >>> column = Column(np.array([0.5]))
    >>> column.append(np.array([0.6])).values.tolist(), column.append(np.array([0.7])).values.tolist()
    ([0.5, 0.6], [0.5, 0.7])
    >>> column.values.tolist()
    [0.5]
    """

    __slots__ = ("_last", "_room", "values")

    def __init__(self, values: NDArray[Any], room: NDArray[Any] | None = None, last: list[int] | None = None) -> None:
        self.values: NDArray[Any] = values.view()
        self.values.flags.writeable = False
        self._room, self._last = values if room is None else room, last or [NONE]  # where what fills the room ends

    def __len__(self) -> int:
        return len(self.values)

    def __reduce__(self) -> tuple[type[Column], tuple[NDArray[Any]]]:
        return Column, (self.values.copy(),)

    def append(self, new: ArrayLike) -> Column:
        values = np.asarray(new)
        if not values.size:
            return self
        start, end = len(self.values), len(self.values) + len(values)
        room, last = self._room, self._last
        if last[0] != start or end > len(room):
            room, last = np.empty(end + end // 2, dtype=self.values.dtype), [end]
            room[:start] = self.values
        room[start:end] = values
        last[0] = end
        return Column(room[:end], room, last)

    def changed(self, rows: NDArray[np.int64], values: ArrayLike) -> Column:
        if not len(rows):
            return self
        height = len(self.values)
        room = np.empty(height + height // 2, dtype=self.values.dtype)
        room[:height] = self.values
        room[rows] = values
        return Column(room[:height], room, [height])


MOST_LOOSE = 1_000  # pieces that may wait to be joined: rows admitted one by one are a piece each


@dataclass(slots=True, eq=False)
class ChunkedRows:
    """Rows in pieces, each on top of those before it; once they are one frame, the pieces are let go.

    >>> pile = ChunkedRows.of(pl.DataFrame({"n": [1, 2]})).append(LazyRows.of(pl.DataFrame({"n": [3]})))
    >>> pile.frame["n"].to_list(), pile.since(1).column("n").tolist()
    ([1, 2, 3], [2, 3])
    """

    piece: LazyRows
    below: ChunkedRows | None
    height: int
    loose: int

    @classmethod
    def of(cls, frame: pl.DataFrame) -> ChunkedRows:
        return cls(LazyRows.of(frame), None, frame.height, 0)

    @property
    def frame(self) -> pl.DataFrame:
        if self.below is not None:
            pieces, ground = self._above(0)
            runs = [list(run) for _, run in groupby(pieces, key=lambda piece: piece.kinds is not None)]
            joined = [join_rows(run).frame() if run[0].kinds else pl.concat([item.frame() for item in run]) for run in runs]
            whole = stack_rows(ground.piece.frame(), joined[0] if len(joined) == 1 else pl.concat(joined, rechunk=True))
            self.piece, self.below, self.loose = LazyRows.of(whole), None, 0
        return self.piece.frame()

    @property
    def is_frame(self) -> bool:
        return self.below is None and isinstance(self.piece.source, pl.DataFrame)

    def column(self, name: str, start: int = 0) -> NDArray[Any]:
        pile, pieces = self, [self.piece]
        while pile.below is not None and pile.below.height > start:
            pile = pile.below
            pieces.append(pile.piece)
        arrays = [piece.at_hand[name] if name in piece.at_hand else piece.column(name) for piece in pieces]
        whole = np.concatenate(arrays[::-1]) if len(arrays) > 1 else arrays[0]
        return whole[start - (pile.below.height if pile.below else 0) :]

    def append(self, piece: LazyRows) -> ChunkedRows:
        if not piece.height:
            return self
        if not self.height:
            return ChunkedRows(piece, None, piece.height, 0)
        below = self if self.loose < MOST_LOOSE else ChunkedRows.of(self.frame)
        return ChunkedRows(piece, below, self.height + piece.height, below.loose + 1)

    def since(self, start: int) -> LazyRows:
        return LazyRows(self.height - start, lambda: self.frame.slice(start), make=lambda name: self.column(name, start))

    def _above(self, start: int) -> tuple[list[LazyRows], ChunkedRows]:
        pieces, pile = list[LazyRows](), self
        while pile.below is not None and pile.height > start:
            pieces.append(pile.piece)
            pile = pile.below
        return pieces[::-1], pile


@dataclass(eq=False)
class Table:
    """Rows that were appended, and those columns of them that are arrays; others grow from it, it never changes.

    Of a column that changed since the rows were appended (`stale` there), the array holds the values.
    """

    rows: ChunkedRows
    columns: dict[str, Column]
    stale: frozenset[str]

    @property
    def height(self) -> int:
        return self.rows.height

    @classmethod
    def of(cls, frame: pl.DataFrame) -> Table:
        return cls(ChunkedRows.of(frame), {}, frozenset())

    @classmethod
    def lazy(cls, at_hand: dict[str, NDArray[Any]], whole: Callable[[], pl.DataFrame]) -> Table:
        """Return a table of which some columns are at hand, and the `whole` frame is made when somebody asks for more."""
        height = len(next(iter(at_hand.values())))
        return cls(ChunkedRows(LazyRows(height, whole, at_hand), None, height, 0), {}, frozenset())

    @cached_property
    def frame(self) -> pl.DataFrame:
        if not self.stale:
            return self.rows.frame
        return with_columns(self.rows.frame, {name: self.series(name) for name in self.stale})

    def series(self, name: str) -> pl.Series:
        return to_series(name, self.column(name)) if name in self.stale else self.rows.frame[name]

    def column(self, name: str) -> NDArray[Any]:
        column = self.columns.get(name)
        if column is None:
            column = self.columns[name] = Column(self.rows.column(name))
        elif len(column.values) < self.rows.height:
            column = self.columns[name] = column.append(self.rows.column(name, len(column.values)))
        return column.values

    def append(self, new: LazyRows) -> Table:
        if not new.height:
            return self
        columns = {**self.columns} if self.rows.height else {}  # each grows when somebody asks for it
        return Table(self.rows.append(new), columns, self.stale)

    def changed(self, rows: NDArray[np.int64], values: Mapping[str, Any]) -> Table:
        columns = {}
        for name, value in values.items():
            self.column(name)
            columns[name] = self.columns[name].changed(rows, place_of(name, value))
        return self.with_columns(columns)

    def with_columns(self, columns: Mapping[str, Column]) -> Table:
        return Table(self.rows, {**self.columns, **columns}, self.stale | columns.keys())
