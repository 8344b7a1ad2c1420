"""Quantiles over replications at each tick, recorded instead of the replications themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from malsim.memory.graph.arrays import Array, Bools, Ints

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
BANDS = {
    "t": pl.Float64, "row": pl.String, "signal": pl.String, "count": pl.Int64, "mean": pl.Float64,
    **{f"q{int(100 * level):02d}": pl.Float64 for level in LEVELS},
}  # fmt: skip

BUFFER = 2**17  # values summarised together (1 MB)


class Bands:
    """Number of replications with a value, mean and quantiles of each signal at each tick."""

    def __init__(self) -> None:
        self._times: list[float] = []
        self._rows: list[str | None] = []
        self._signals: list[str] = []
        self._whole: list[bool] = []  # of the buffered rows
        self._waiting = np.zeros((0, 0))
        self._size = 0
        self._summaries: list[Array] = []

    def add(
        self, t: float, signals: Mapping[str, Array | Ints], rows: tuple[str | None, ...], *, whole: Collection[str] = ()
    ) -> None:
        """Add signals of shape (rows, replications) for the same rows, with NaN for missing values.

        `whole` names those whose values are whole numbers from 0 on.
        """
        if not signals or not rows:
            return
        self._times += [t] * (len(signals) * len(rows))
        self._rows += rows * len(signals)
        self._signals += [name for name in signals for _ in rows]
        arrays = [array.reshape(len(rows), -1) for array in signals.values()]
        end = self._size + len(signals) * len(rows)
        if end > len(self._waiting):
            end -= self._sum_up()
            self._make_room(end, arrays[0].shape[1])
        np.concatenate(arrays, out=self._waiting[self._size : end])
        self._whole += [name in whole for name in signals for _ in rows]
        self._size = end

    def _make_room(self, rows: int, replications: int) -> None:
        if rows > len(self._waiting):
            self._waiting = np.empty((max(rows, BUFFER // max(replications, 1)), replications))

    def _sum_up(self) -> int:
        size, self._size = self._size, 0
        if size:
            self._summaries.append(_summary(self._waiting[:size], np.array(self._whole)))
            self._whole = []
        return size

    def frame(self) -> pl.DataFrame:
        self._sum_up()
        if not self._summaries:
            return pl.DataFrame(schema=BANDS)
        head = {
            "t": self._times,
            "row": pl.Series(self._rows, dtype=pl.String),
            "signal": pl.Series(self._signals, dtype=pl.String),
        }
        tail = dict(zip(list(BANDS)[3:], np.concatenate(self._summaries).T, strict=True))
        return pl.DataFrame(head | tail).with_columns(pl.col("count").cast(pl.Int64))


def bands_of(signals: pl.DataFrame) -> pl.DataFrame:
    value = pl.col("value")
    quantiles = [value.quantile(level, interpolation="linear").alias(f"q{int(100 * level):02d}") for level in LEVELS]
    return signals.group_by("t", "row", "signal", maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("count"), value.mean().alias("mean"), *quantiles
    )


def _summary(values: Array, whole: Bools) -> Array:
    """Return count, mean and interpolated quantiles of each row, NaN left out.

    Rows of nothing but 0 and 1 need no order: the sum says where the ones would begin. The others are left in order: what is
    summed up is not looked at again, and another megabyte would cost more than a sum.
    """
    count, total = np.full(len(values), values.shape[1]), values.sum(axis=1)
    gaps = np.flatnonzero(np.isnan(total))  # most rows have no gap
    part = values[gaps]
    there = ~np.isnan(part)
    count[gaps], total[gaps] = there.sum(axis=1), np.where(there, part, 0.0).sum(axis=1)
    mean = np.divide(total, count, out=np.full(len(values), np.nan), where=count > 0)
    truths = whole & (values.max(axis=1) <= 1.0)  # False where there are gaps, since NaN compares False
    for begin, end in np.flatnonzero(np.diff(truths, prepend=True, append=True)).reshape(-1, 2):
        values[begin:end].sort(axis=1)  # NaN sorts last
    row, last = np.arange(len(values))[:, None], np.maximum(count - 1, 0)[:, None]
    at = last * LEVELS
    low = at.astype(np.int64)
    indices = np.stack([low, np.minimum(low + 1, last)])
    left, right = np.where(truths[:, None], indices >= (count - total)[:, None], values[row, indices])
    return np.column_stack([count, mean, left + (at - low) * (right - left)])
