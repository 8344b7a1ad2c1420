"""Immutable tables of typed columns, which share buffers with the tables from which they were extended."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory.graph.frames import LazyRows, code_of, join_rows, stack_rows, to_series, with_columns
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike, NDArray


class Column:
    """Immutable array from which a longer column can be made without a copy.

    An appended column shares the buffer of its predecessor, unless another column was appended there first; a changed column
    is a copy.

    >>> column = Column(np.array([0.5]))
    >>> column.append(np.array([0.6])).values.tolist(), column.append(np.array([0.7])).values.tolist()
    ([0.5, 0.6], [0.5, 0.7])
    >>> column.values.tolist()
    [0.5]
    """

    __slots__ = ("_buffer", "_filled", "values")

    def __init__(self, values: NDArray[Any], buffer: NDArray[Any] | None = None, filled: list[int] | None = None) -> None:
        self.values: NDArray[Any] = values.view()
        self.values.flags.writeable = False
        self._buffer = values if buffer is None else buffer
        self._filled = filled or [NONE]  # number of buffer rows in use, shared by all columns that use the buffer

    def __len__(self) -> int:
        return len(self.values)

    def __reduce__(self) -> tuple[type[Column], tuple[NDArray[Any]]]:
        return Column, (self.values.copy(),)

    def append(self, new: ArrayLike) -> Column:
        values = np.asarray(new)
        if not values.size:
            return self
        start, end = len(self.values), len(self.values) + len(values)
        buffer, filled = self._buffer, self._filled
        if filled[0] != start or end > len(buffer):
            buffer, filled = np.empty(end + end // 2, dtype=self.values.dtype), [end]
            buffer[:start] = self.values
        buffer[start:end] = values
        filled[0] = end
        return Column(buffer[:end], buffer, filled)

    def changed(self, rows: NDArray[np.int64], values: ArrayLike) -> Column:
        if not len(rows):
            return self
        height = len(self.values)
        buffer = np.empty(height + height // 2, dtype=self.values.dtype)
        buffer[:height] = self.values
        buffer[rows] = values
        return Column(buffer[:height], buffer, [height])


MOST_LOOSE = 1_000  # maximum number of chunks before they are joined; each admission adds one chunk


@dataclass(slots=True, eq=False)
class ChunkedRows:
    """Linked list of chunks of rows, starting with the last one. Joining the chunks into one frame replaces them."""

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
            pieces, rows = list[LazyRows](), self
            while rows.below is not None:
                pieces.insert(0, rows.piece)
                rows = rows.below
            runs = [list(run) for _, run in groupby(pieces, key=lambda piece: piece.kinds is not None)]
            joined = [join_rows(run).frame() if run[0].kinds else pl.concat([part.frame() for part in run]) for run in runs]
            whole = stack_rows(rows.piece.frame(), joined[0] if len(joined) == 1 else pl.concat(joined, rechunk=True))
            self.piece, self.below, self.loose = LazyRows.of(whole), None, 0
        return self.piece.frame()

    @property
    def is_frame(self) -> bool:
        return self.below is None and isinstance(self.piece.source, pl.DataFrame)

    def column(self, name: str, start: int = 0) -> NDArray[Any]:
        """Return the values of a column from row `start` on."""
        rows, pieces = self, [self.piece]
        while rows.below is not None and rows.below.height > start:
            rows = rows.below
            pieces.append(rows.piece)
        arrays = [piece.at_hand[name] if name in piece.at_hand else piece.column(name) for piece in pieces]
        whole = np.concatenate(arrays[::-1]) if len(arrays) > 1 else arrays[0]
        return whole[start - (rows.below.height if rows.below else 0) :]

    def append(self, piece: LazyRows) -> ChunkedRows:
        if not piece.height:
            return self
        if not self.height:
            return ChunkedRows(piece, None, piece.height, 0)
        below = self if self.loose < MOST_LOOSE else ChunkedRows.of(self.frame)
        return ChunkedRows(piece, below, self.height + piece.height, below.loose + 1)

    def since(self, start: int) -> LazyRows:
        return LazyRows(self.height - start, lambda: self.frame.slice(start), make=lambda name: self.column(name, start))


@dataclass(eq=False)
class Table:
    """Immutable table: rows as they were appended, and columns as arrays.

    A column that has changed since is named in `stale`: its present values are in `columns`, not in `rows`.
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
        """Return a table with the columns in `at_hand`. Any other column is read from the frame that `whole` returns."""
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
        columns = {**self.columns} if self.rows.height else {}  # existing columns are extended when they are next read
        return Table(self.rows.append(new), columns, self.stale)

    def changed(self, rows: NDArray[np.int64], values: Mapping[str, Any]) -> Table:
        columns = {}
        for name, value in values.items():
            self.column(name)
            columns[name] = self.columns[name].changed(rows, code_of(name, value))
        return self.with_columns(columns)

    def with_columns(self, columns: Mapping[str, Column]) -> Table:
        return Table(self.rows, {**self.columns, **columns}, self.stale | columns.keys())
