"""Growable tables of recorded cells, writers and signals, which become data frames at the end of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from malsim.memory.graph.frames import to_series
from malsim.memory.graph.table import Column

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Kinds = Mapping[str, pl.DataType | type[pl.DataType]]
    from collections.abc import Collection, Sequence

    from malsim.memory.graph.arrays import Array, Ints


class RecordedRows:
    """Growable table with fixed column types. Batches of rows are added as arrays in the format of `frames.to_array`.

    >>> rows = RecordedRows({"t": pl.Float64, "status": pl.String})
    >>> rows.add(2, {"t": 1.0, "status": np.array(["active", "annexed"], dtype=object)})
    >>> rows.frame().rows()
    [(1.0, 'active'), (1.0, 'annexed')]
    """

    def __init__(self, kinds: Kinds) -> None:
        self._kinds, self._columns = kinds, dict[str, Column]()

    def add(self, count: int, values: Mapping[str, NDArray[Any] | float]) -> None:
        for name, value in values.items():
            column = np.broadcast_to(np.asarray(value), count)
            self._columns[name] = self._columns[name].append(column) if name in self._columns else Column(column.copy())

    def frame(self) -> pl.DataFrame:
        series = [_series(name, self._columns[name].values, kind) for name, kind in self._kinds.items() if self._columns]
        return pl.DataFrame(series) if series else pl.DataFrame(schema=self._kinds)


def _series(name: str, values: NDArray[Any], kind: pl.DataType | type[pl.DataType]) -> pl.Series:
    if isinstance(kind, pl.Enum):
        return to_series(name, values)
    if kind == pl.Boolean and values.dtype != np.bool_:
        return pl.Series(name, values == 1).set(pl.Series(values < 0), None)
    return pl.Series(name, values, dtype=kind, nan_to_null=kind == pl.Float64)


Texts: TypeAlias = "str | Sequence[str | None] | NDArray[Any] | pl.Series | None"


class TextCodes:
    """Growing table that assigns an integer code to each distinct text, including None.

    >>> codes = TextCodes()
    >>> codes.of(["pump", None, "pump"], 3).tolist(), codes.of("valve", 2).tolist()
    ([0, 1, 0], [2, 2])
    >>> codes.texts[pl.Series([2, 1])].to_list()
    ['valve', None]
    """

    def __init__(self) -> None:
        self._codes: dict[str | None, int] = {}

    def of(self, texts: Texts, count: int) -> Ints:
        codes = self._codes
        if texts is None or isinstance(texts, str):
            return np.full(count, codes.setdefault(texts, len(codes)))
        listed = texts.tolist() if isinstance(texts, np.ndarray) else texts
        return np.fromiter((codes.setdefault(text, len(codes)) for text in listed), np.int64, count)

    @property
    def texts(self) -> pl.Series:
        return pl.Series("text", list(self._codes), dtype=pl.String)


SIGNALS = {"t": pl.Float64, "rep": pl.Int32, "row": pl.String, "signal": pl.String, "value": pl.Float64}


class SignalLog:
    """Recorded samples of signals, without NaN. Only the listed `addresses` are kept, such as `words` or `right(pump)`."""

    def __init__(self, reps: NDArray[Any], addresses: Collection[str] | None = None) -> None:
        self._reps, self._addresses = np.asarray(reps, dtype=np.int32), addresses
        self._codes = TextCodes()
        self._parts: list[tuple[NDArray[Any], ...]] = []

    def keeps(self, signal: str, row: str | None) -> bool:
        addresses = self._addresses
        if addresses is None or signal in addresses:
            return True
        return (signal if row is None else f"{signal}({row})") in addresses

    def add(self, t: float, signals: Mapping[str, Array], rows: Sequence[str | None] = (None,)) -> None:
        lines = []
        for name, table in signals.items():
            lines += [
                (row, name, values) for row, values in zip(rows, np.atleast_2d(table), strict=True) if self.keeps(name, row)
            ]
        if lines:
            row_names, names, arrays = zip(*lines, strict=True)
            codes = np.stack([self._codes.of(texts, len(lines)) for texts in (row_names, names)])
            codes = codes.repeat(len(self._reps), axis=1)
            self._keep(t, np.tile(self._reps, len(lines)), codes, np.concatenate(arrays))

    def add_column(self, t: float, rep: Ints, rows: NDArray[Any], signal: str, values: Array) -> None:
        """Add one sample of `signal` per row, taken at `t` days. `rep` holds the replication number of each row."""
        codes = np.stack([self._codes.of(texts, len(rep)) for texts in (rows, signal)])
        if self._addresses is not None:
            listed = np.array([self.keeps(signal, row) for row in rows.tolist()], dtype=bool)
            rep, codes, values = rep[listed], codes[:, listed], values[listed]
        self._keep(t, rep, codes, values)

    def _keep(self, t: float, rep: Ints, codes: Ints, values: Array) -> None:
        present = np.flatnonzero(~np.isnan(values))
        self._parts.append((np.full(len(present), t), rep[present], codes[:, present], values[present]))

    def frame(self) -> pl.DataFrame:
        if not self._parts:
            return pl.DataFrame(schema=SIGNALS)
        t, rep, codes, value = (np.concatenate(parts, axis=-1) for parts in zip(*self._parts, strict=True))
        texts = self._codes.texts
        row, signal = (texts[pl.Series(numbers.astype(np.uint32))] for numbers in codes)
        columns = {"t": t, "rep": pl.Series(rep, dtype=pl.Int32), "row": row, "signal": signal, "value": value}
        return pl.DataFrame(columns)
