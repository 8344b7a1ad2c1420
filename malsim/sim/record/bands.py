"""Quantiles over replications at each tick, recorded in place of the individual replications."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.memory.graph.arrays import Array, Ints

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
BANDS = {
    "t": pl.Float64, "row": pl.String, "signal": pl.String, "count": pl.Int64, "mean": pl.Float64,
    **{f"q{int(100 * level):02d}": pl.Float64 for level in LEVELS},
}  # fmt: skip

BUFFER = 2**17  # number of values summarised in one batch (1 MB)


class Bands:
    """Summary of each signal at each tick: number of replications with a value, mean, and quantiles."""

    def __init__(self) -> None:
        self._times: list[float] = []
        self._rows: list[str | None] = []
        self._signals: list[str] = []
        self._waiting: list[Array] = []
        self._summaries: list[Array] = []

    def add(self, t: float, signals: Mapping[str, Array | Ints], rows: tuple[str | None, ...]) -> None:
        if not signals or not rows:
            return
        self._times += [t] * (len(signals) * len(rows))
        self._rows += rows * len(signals)
        self._signals += [name for name in signals for _ in rows]
        self._waiting += [np.array(values, dtype=np.float64).reshape(len(rows), -1) for values in signals.values()]
        if sum(values.size for values in self._waiting) >= BUFFER:
            self._sum_up()

    def _sum_up(self) -> None:
        if self._waiting:
            self._summaries.append(_summary(np.concatenate(self._waiting)))
            self._waiting = []

    def frame(self) -> pl.DataFrame:
        self._sum_up()
        if not self._summaries:
            return pl.DataFrame(schema=BANDS)
        row, signal = (pl.Series(texts, dtype=pl.String) for texts in (self._rows, self._signals))
        head = {"t": self._times, "row": row, "signal": signal}
        tail = dict(zip(list(BANDS)[3:], np.concatenate(self._summaries).T, strict=True))
        return pl.DataFrame(head | tail).with_columns(pl.col("count").cast(pl.Int64))


def bands_of(signals: pl.DataFrame) -> pl.DataFrame:
    value = pl.col("value")
    quantiles = [value.quantile(level, interpolation="linear").alias(f"q{int(100 * level):02d}") for level in LEVELS]
    return signals.group_by("t", "row", "signal", maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("count"), value.mean().alias("mean"), *quantiles
    )


def _summary(values: Array) -> Array:
    """Return the count, mean and interpolated quantiles of each row, ignoring NaN. Sorts the rows in place."""
    count, total = np.full(len(values), values.shape[1]), values.sum(axis=1)
    gaps = np.flatnonzero(np.isnan(total))  # only the few rows with NaN need a second pass
    present = ~np.isnan(values[gaps])
    count[gaps], total[gaps] = present.sum(axis=1), np.where(present, values[gaps], 0.0).sum(axis=1)
    mean = np.divide(total, count, out=np.full(len(values), np.nan), where=count > 0)
    values.sort(axis=1)  # NaN values are sorted to the end
    row, last = np.arange(len(values))[:, None], np.maximum(count - 1, 0)[:, None]
    position = last * LEVELS
    low = position.astype(np.int64)
    below, above = values[row, low], values[row, np.minimum(low + 1, last)]
    return np.column_stack([count, mean, below + (position - low) * (above - below)])
