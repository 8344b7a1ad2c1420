"""A column that a tick has moved, but whose new values are computed only when somebody reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from malsim.memory.columns import Column, Rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["Law", "Pending", "after"]

Law = Callable[[Rows], NDArray[np.float64]]


class Pending(Column):
    """A column of which the rows that are `due` hold what `law` says of them, and the others what they hold in `rest`.

    The law, a function of row numbers or of a slice of all rows, is that of one tick. `after` the next one, rows that are
    not due any more keep what they had come to. What is written into a row stays until it is due again.

    >>> column = Pending(Column(np.array([7.0, 7.0])), np.array([True, False]), lambda rows: rows + 0.5)
    >>> column.values.tolist(), column.changed(np.array([0]), 1.0).values.tolist()
    ([0.5, 7.0], [1.0, 7.0])
    >>> after({"t": column}, {"t": (np.array([False, True]), lambda rows: rows * 4.0)})["t"].values.tolist()
    [0.5, 4.0]
    """

    def __init__(self, rest: Column, due: NDArray[np.bool_], law: Law) -> None:
        self._rest, self.due, self._law = rest, due, law  # of the rows behind its end `due` says that they are not

    @cached_property
    def values(self) -> NDArray[Any]:
        """All rows; where every one is due, the law is asked for a slice: numbers would take longer."""
        if len(self) == len(self.due) and self.due.all():
            values = self._law(slice(None)).view()
        else:
            rows, values = np.flatnonzero(self.due), self._rest.copy()
            values[rows] = self._law(rows)
        values.flags.writeable = False
        return values

    def __len__(self) -> int:
        return len(self._rest)

    def at(self, rows: Rows) -> NDArray[Any]:
        """Some rows; of no other one anything is computed."""
        if isinstance(rows, slice):
            return self.values[rows]
        due = np.flatnonzero(self.due.take(rows, mode="clip") & (rows < len(self.due)))
        if len(due) == len(rows):
            return self._law(rows)
        found = self._rest.at(rows)
        found[due] = self._law(rows[due])
        return found

    def grown(self, new: ArrayLike) -> Pending:
        """The column with more values behind its own, which are not due yet."""
        return Pending(self._rest.grown(new), self.due, self._law)

    def changed(self, rows: NDArray[np.int64], values: ArrayLike) -> Pending:
        """The column with other values in some rows, which are not due any more."""
        due = self.due.copy()
        due[rows[rows < len(due)]] = False
        return Pending(self._rest.changed(rows, values), due, self._law)

    def settled(self, rows: NDArray[np.int64]) -> Column:
        """What the column rests on when all rows that are due will be due again, but these."""
        return self._rest.changed(rows, self._law(rows)) if rows.size else self._rest


def after(columns: Mapping[str, Column], laws: Mapping[str, tuple[NDArray[np.bool_], Law]]) -> dict[str, Column]:
    """What columns become by a tick, of each by the rows that are due now and what the tick says of them.

    Most columns share those rows: what is not due any more is looked for once in all that do.
    """
    moved: dict[str, Column] = {}
    ended: dict[tuple[int, int], NDArray[np.int64]] = {}
    for name, (due, law) in laws.items():
        rest = columns[name]
        if isinstance(rest, Pending):
            both = id(rest.due), id(due)
            if both not in ended:
                ended[both] = np.flatnonzero(rest.due > due[: len(rest.due)])
            rest = rest.settled(ended[both])
        moved[name] = Pending(rest, due, law)
    return moved
