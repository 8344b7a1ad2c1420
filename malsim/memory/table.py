"""A table that grows and moves: its columns as arrays, and the frame of them when somebody asks for it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from malsim.memory.columns import Column, dressed, place_of
from malsim.memory.frames import with_columns
from malsim.memory.pile import Pile

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from malsim.memory.deferred import Deferred

__all__ = ["Table", "TableField"]


class Table:
    """Rows that were appended, and the columns of them that are kept as arrays; others grow from it, it never changes.

    Of a column that moved since, the array is what holds.
    """

    def __init__(self, rows: Pile, columns: dict[str, Column], moved: frozenset[str]) -> None:
        self.rows, self.columns, self._moved = rows, columns, moved

    @classmethod
    def of(cls, frame: pl.DataFrame) -> Table:
        """The table that a frame is."""
        return cls(Pile.of(frame), {}, frozenset())

    @property
    def height(self) -> int:
        """How many rows there are."""
        return self.rows.height

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The table as a frame."""
        return with_columns(self.rows.frame, {name: self.series(name) for name in self._moved})

    def series(self, name: str) -> pl.Series:
        """A column as the frame would hold it, made without the frame where it moved."""
        return dressed(name, self.columns[name].values) if name in self._moved else self.rows.frame[name]

    def column(self, name: str) -> NDArray[Any]:
        """A column as a read-only array, as of `columns.bare`; kept, and grown along with the table."""
        return self.kept(name).values

    def kept(self, name: str) -> Column:
        """A column as it is kept: of one that a tick left pending, rows are computed when they are read."""
        if name not in self.columns:
            self.columns[name] = Column(self.rows.column(name))
        return self.columns[name]

    def grown(self, new: Deferred) -> Table:
        """The table with new rows under its own."""
        columns = {name: held.grown(new.column(name)) for name, held in self.columns.items()}
        return Table(self.rows.grown(new), columns, self._moved)

    def changed(self, rows: NDArray[np.int64], values: Mapping[str, Any]) -> Table:
        """The table with other values in some rows: of each column one, or one a row."""
        return self.moved({name: self.kept(name).changed(rows, place_of(name, value)) for name, value in values.items()})

    def moved(self, columns: Mapping[str, Column]) -> Table:
        """The table with some columns replaced."""
        return Table(self.rows, {**self.columns, **columns}, self._moved | columns.keys())


class TableField:
    """A dataclass's field that is given as a frame or as a table, kept as a table, and read as a frame."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, holder: object, owner: type) -> pl.DataFrame:
        if holder is None:
            raise AttributeError(self.name)  # it has no default
        table: Table = holder.__dict__[self.name]
        return table.frame

    def __set__(self, holder: object, rows: pl.DataFrame | Table) -> None:
        holder.__dict__[self.name] = rows if isinstance(rows, Table) else Table.of(rows)
