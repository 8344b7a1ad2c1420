"""Frames that are made when somebody asks: rows whose numbers are at hand, whose words can wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from malsim.memory.columns import bare
from malsim.memory.frames import framed, places

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["Deferred"]


class Deferred:
    """`height` rows of a frame that `make` makes; `columns` of it are at hand as `columns.bare` would give them.

    Of the columns in `blank` it is known that they hold nothing but nulls.

    >>> import numpy as np, polars as pl
    >>> rows = Deferred(2, lambda: pl.DataFrame({"t": [0.5, 1.5], "title": ["a", "b"]}), {"t": np.array([0.5, 1.5])})
    >>> rows.column("t").tolist(), rows.rows(np.array([1])).frame()["title"].to_list()
    ([0.5, 1.5], ['b'])
    """

    def __init__(
        self,
        height: int,
        make: Callable[[], pl.DataFrame],
        columns: Mapping[str, NDArray[Any]],
        blank: frozenset[str] = frozenset(),
    ) -> None:
        self.height, self._make, self._blank = height, make, blank
        self._columns = dict(columns)
        self._frame: pl.DataFrame | None = None

    @classmethod
    def of(cls, frame: pl.DataFrame) -> Deferred:
        """A frame that is there already."""
        return cls(frame.height, lambda: frame, {})

    def frame(self) -> pl.DataFrame:
        """The rows in full."""
        if self._frame is None:
            self._frame = self._make()
        return self._frame

    def holds(self, name: str) -> bool:
        """Whether a column is at hand."""
        return name in self._columns

    def column(self, name: str) -> NDArray[Any]:
        """A column as an array, as of `columns.bare`."""
        if name not in self._columns:
            self._columns[name] = bare(self.frame()[name])
        return self._columns[name]

    def tells(self, name: str) -> bool:
        """Whether a column holds anything but nulls."""
        return name not in self._blank and self.frame()[name].null_count() < self.height

    def rows(self, rows: NDArray[np.integer[Any]]) -> Deferred:
        """These rows, in this order."""
        columns = {name: held[rows] for name, held in self._columns.items()}
        return Deferred(len(rows), lambda: self.frame()[places(rows)], columns, self._blank)

    def with_column(self, name: str, held: NDArray[Any]) -> Deferred:
        """The same rows with one more column."""
        columns = self._columns | {name: held}
        return Deferred(self.height, lambda: self.frame().hstack(framed({name: held})), columns, self._blank)
