"""Rows of cells and writers recorded tick by tick, in columns with room for more, made a frame at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory.graph.frames import to_series
from malsim.memory.graph.table import Column

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Kinds = Mapping[str, pl.DataType | type[pl.DataType]]


class RecordedRows:
    """Rows of a frame with given column types, as of `frames.to_array`, added in batches.

    >>> rows = RecordedRows({"t": pl.Float64, "status": pl.String})
    >>> rows.add(2, {"t": 1.0, "status": np.array(["active", "annexed"], dtype=object)})
    >>> rows.frame().rows()
    [(1.0, 'active'), (1.0, 'annexed')]
    """

    def __init__(self, kinds: Kinds) -> None:
        self._kinds, self._columns = kinds, dict[str, Column]()

    def add(self, count: int, values: Mapping[str, NDArray[Any] | float]) -> None:
        """Add `count` rows: of each column one value, or one a row."""
        for name, value in values.items():
            column = np.broadcast_to(np.asarray(value), count)
            self._columns[name] = self._columns[name].append(column) if name in self._columns else Column(column.copy())

    def frame(self) -> pl.DataFrame:
        """Return all rows; an absent number (NaN) is null."""
        series = [_series(name, self._columns[name].values, kind) for name, kind in self._kinds.items() if self._columns]
        return pl.DataFrame(series) if series else pl.DataFrame(schema=self._kinds)


def _series(name: str, values: NDArray[Any], kind: pl.DataType | type[pl.DataType]) -> pl.Series:
    """Return a column as a series; a truth that is unknown is −1."""
    if isinstance(kind, pl.Enum):
        return to_series(name, values)
    if kind == pl.Boolean and values.dtype != np.bool_:
        return pl.Series(name, values == 1).set(pl.Series(values < 0), None)
    return pl.Series(name, values, dtype=kind, nan_to_null=kind == pl.Float64)
