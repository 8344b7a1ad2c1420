"""Copy-on-write columns: appended rows share memory with the old column, and changing an existing row copies the column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from malsim.memory.graph.arrays import Ints

LEAST = 64


class _Room:
    """Array with spare capacity at its end, and the number of rows in use."""

    def __init__(self, array: NDArray[Any], end: int) -> None:
        self.array, self.end = array, end


@dataclass(frozen=True)
class Buffer:
    """View of the first `height` rows of a shared array. Later rows belong to columns that extend this one."""

    room: _Room
    height: int

    @classmethod
    def of(cls, values: NDArray[Any]) -> Buffer:
        return cls(_Room(values, len(values)), len(values))

    @property
    def values(self) -> NDArray[Any]:
        values = self.room.array[: self.height]
        values.flags.writeable = False
        return values

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle only this column's rows, not the whole shared array."""
        return Buffer.of, (self.values.copy(),)


class Draft:
    """Editable copy of columns. The original columns keep their values.

    `arrays` holds the columns with the new rows; rows can be changed only with `put`.
    """

    def __init__(self, columns: Mapping[str, Buffer], more: int = 0) -> None:
        self._columns, self._rooms, self._owned = columns, {}, set[str]()
        self.height = next(iter(columns.values())).height
        self.arrays: dict[str, NDArray[Any]] = {}
        for name, column in columns.items():
            room, size = column.room, self.height + more
            if size > len(room.array) or (more and room.end != self.height):
                values = column.values
                array = np.zeros((max(size, 2 * len(room.array), LEAST), *values.shape[1:]), dtype=values.dtype)
                array[: self.height] = values
                room = _Room(array, self.height)
                self._owned.add(name)
            self._rooms[name] = room
            self.arrays[name] = room.array[:size]

    def start(self, name: str, values: NDArray[Any] | float) -> None:
        fresh = self.arrays[name][self.height :]
        if fresh.ndim > 1:
            fresh[:] = np.nan
            fresh[:, 0] = values
        else:
            fresh[:] = values

    def put(self, name: str, rows: Ints, values: NDArray[Any]) -> None:
        """Set values in the given rows of a column. A column of lists is widened if a list has become longer."""
        if values.ndim > 1 and values.shape[-1] > self.arrays[name].shape[-1]:
            old = self._rooms[name].array
            wide = np.full((len(old), max(values.shape[-1], 2 * self.arrays[name].shape[-1])), np.nan)
            wide[:, : old.shape[1]] = old
            self._own(name, wide)
        elif name not in self._owned and rows.min(initial=self.height) < self.height:
            self._own(name, self._rooms[name].array.copy())
        target = self.arrays[name]
        if values.ndim > 1:
            target[rows, : values.shape[-1]] = values
            target[rows, values.shape[-1] :] = np.nan
        else:
            target[rows] = values

    def columns(self, mask: NDArray[np.bool_] | None = None) -> dict[str, Buffer]:
        """Return the columns with the new rows that `mask` selects, or with all new rows if `mask` is None."""
        end = len(self.arrays["rep"])
        columns = {}
        for name, array in self.arrays.items():
            if mask is not None:
                end = self.height + int(np.count_nonzero(mask))
                array[self.height : end] = array[self.height :][mask]
            room = self._rooms[name]
            if end > self.height or name in self._owned:
                room.end = end
                columns[name] = Buffer(room, end)
            else:
                columns[name] = self._columns[name]
        return columns

    def _own(self, name: str, array: NDArray[Any]) -> None:
        self._rooms[name] = _Room(array, self.height)
        self.arrays[name] = array[: len(self.arrays[name])]
        self._owned.add(name)
