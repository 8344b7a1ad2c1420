"""A column that a tick has moved, but whose new values are computed only when somebody reads them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from malsim.memory.columns import Column, Rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["Law", "Pending"]

Law = Callable[[Rows], NDArray[np.float64]]


class Pending(Column):
    """A column of which the rows that are `due` hold what `law` says of them, and the others what they hold in `rest`.

    The law, a function of row numbers or of a slice of all rows, is that of one tick. At the next one, rows that are not
    due any more keep what they had come to. What is written into a row stays until it is due again.

    >>> column = Pending(Column(np.array([7.0, 7.0])), np.array([True, False]), lambda rows: rows + 0.5)
    >>> column.values.tolist(), column.changed(np.array([0]), 1.0).values.tolist()
    ([0.5, 7.0], [1.0, 7.0])
    >>> Pending.after(column, np.array([False, True]), lambda rows: rows * 4.0).values.tolist()
    [0.5, 4.0]
    """

    def __init__(self, rest: Column, due: NDArray[np.bool_], law: Law) -> None:
        self._rest, self._due, self._law = rest, due, law  # of the rows behind its end `due` says that they are not

    @classmethod
    def after(cls, before: Column, due: NDArray[np.bool_], law: Law) -> Column:
        """What a column becomes by a tick."""
        return cls(before.settled(due) if isinstance(before, Pending) else before, due, law)

    def settled(self, due: NDArray[np.bool_]) -> Column:
        """The column's own values, but for rows that are `due` again."""
        rows = np.flatnonzero(self._due > due[: len(self._due)])
        return self._rest.changed(rows, self._law(rows)) if rows.size else self._rest

    @cached_property
    def values(self) -> NDArray[Any]:
        """All rows; where every one is due, the law is asked for a slice: numbers would take longer."""
        if len(self) == len(self._due) and self._due.all():
            values = self._law(slice(None)).view()
        else:
            rows, values = np.flatnonzero(self._due), self._rest.copy()
            values[rows] = self._law(rows)
        values.flags.writeable = False
        return values

    def __len__(self) -> int:
        return len(self._rest)

    def at(self, rows: Rows) -> NDArray[Any]:
        """Some rows; of no other one anything is computed."""
        if isinstance(rows, slice):
            return self.values[rows]
        due = np.flatnonzero(self._due.take(rows, mode="clip") & (rows < len(self._due)))
        if len(due) == len(rows):
            return self._law(rows)
        found = self._rest.at(rows)
        found[due] = self._law(rows[due])
        return found

    def grown(self, new: ArrayLike) -> Pending:
        """The column with more values behind its own, which are not due yet."""
        return Pending(self._rest.grown(new), self._due, self._law)

    def changed(self, rows: NDArray[np.int64], values: ArrayLike) -> Pending:
        """The column with other values in some rows, which are not due any more."""
        due = self._due.copy()
        due[rows[rows < len(due)]] = False
        return Pending(self._rest.changed(rows, values), due, self._law)
