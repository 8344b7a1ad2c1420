"""Signals of a run, sample by sample: of which replication and row, which signal, which value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.sim.context.text_codes import TextCodes

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from malsim.memory.graph.arrays import Array, Ints

SIGNALS = {"t": pl.Float64, "rep": pl.Int32, "row": pl.String, "signal": pl.String, "value": pl.Float64}


class SignalLog:
    """Samples in order of arrival. NaN is not a sample. `addresses` name the signals to keep, `words` or `right(pump)`."""

    def __init__(self, reps: NDArray[Any], addresses: Collection[str] | None = None) -> None:
        self._reps, self._addresses = np.asarray(reps, dtype=np.int32), addresses
        self._codes = TextCodes()
        self._parts: list[tuple[NDArray[Any], ...]] = []

    def keeps(self, signal: str, row: str | None) -> bool:
        addresses = self._addresses
        if addresses is None or signal in addresses:
            return True
        return (signal if row is None else f"{signal}({row})") in addresses

    def add(self, t: float, rows: Sequence[str | None], signals: Sequence[str], values: Sequence[Array]) -> None:
        """Add one sample a replication of each of some signals of rows, all at `t` days."""
        lines = [line for line in zip(rows, signals, values, strict=True) if self.keeps(line[1], line[0])]
        if lines:
            of_rows, names, arrays = zip(*lines, strict=True)
            times = len(self._reps)
            codes = np.repeat([self._codes.of(texts, len(lines)) for texts in (of_rows, names)], times, axis=1)
            self._keep(t, np.tile(self._reps, len(lines)), codes, np.concatenate(arrays))

    def add_column(self, t: float, rep: Ints, rows: NDArray[Any], signal: str, values: Array) -> None:
        """Add one sample a row of a signal, each row of a replication of its own number, all at `t` days."""
        codes = np.stack([self._codes.of(texts, len(rep)) for texts in (rows, signal)])
        if self._addresses is not None:
            here = np.array([self.keeps(signal, row) for row in rows.tolist()], dtype=bool)
            rep, codes, values = rep[here], codes[:, here], values[here]
        self._keep(t, rep, codes, values)

    def _keep(self, t: float, rep: Ints, codes: Ints, values: Array) -> None:
        there = np.flatnonzero(~np.isnan(values))
        self._parts.append((np.full(len(there), t), rep[there], codes[:, there], values[there]))

    def frame(self) -> pl.DataFrame:
        if not self._parts:
            return pl.DataFrame(schema=SIGNALS)
        t, rep, codes, value = (np.concatenate(parts, axis=-1) for parts in zip(*self._parts, strict=True))
        texts = self._codes.texts
        row, signal = (texts[pl.Series(numbers.astype(np.uint32))] for numbers in codes)
        columns = {"t": t, "rep": pl.Series(rep, dtype=pl.Int32), "row": row, "signal": signal, "value": value}
        return pl.DataFrame(columns)
