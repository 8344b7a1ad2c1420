"""Quantiles over replications, tick by tick: what a run of a thousand lives keeps when it does not keep them all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.sim.occasion import Array

__all__ = ["BANDS", "LEVELS", "Bands", "bands_of"]

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
BANDS = {
    "t": pl.Float64, "row": pl.String, "signal": pl.String, "count": pl.Int64, "mean": pl.Float64,
    **{f"q{int(100 * level):02d}": pl.Float64 for level in LEVELS},
}  # fmt: skip


HELD = 2**17  # values that wait to be summed up together, a megabyte of them


class Bands:
    """Collects, of each signal at each tick, how many replications have a value, their mean and their quantiles."""

    def __init__(self) -> None:
        self._times: list[float] = []
        self._names: list[tuple[str | None, str]] = []
        self._waiting: list[Array] = []
        self._size = 0
        self._kept: list[Array] = []

    def add(self, t: float, signals: Mapping[str, Array], rows: tuple[str | None, ...]) -> None:
        """Take signals of shape (rows, replications), all of the same rows; NaN is no value."""
        if not signals or not rows:
            return
        self._times += [t] * (len(signals) * len(rows))
        self._names += [(row, name) for name in signals for row in rows]
        self._waiting.append(np.concatenate([np.atleast_2d(array) for array in signals.values()]))
        self._size += self._waiting[-1].size
        if self._size >= HELD:
            self._sum_up()

    def _sum_up(self) -> None:
        self._kept.append(_summary(np.concatenate(self._waiting)))
        self._waiting, self._size = [], 0

    def frame(self) -> pl.DataFrame:
        """One row a tick, row and signal (columns of BANDS)."""
        if self._waiting:
            self._sum_up()
        if not self._kept:
            return pl.DataFrame(schema=BANDS)
        rows, signals = zip(*self._names, strict=True)
        head = {
            "t": self._times,
            "row": pl.Series(rows, dtype=pl.String),
            "signal": pl.Series(signals, dtype=pl.String),
        }
        tail = dict(zip(list(BANDS)[3:], np.concatenate(self._kept).T, strict=True))
        return pl.DataFrame(head | tail).with_columns(pl.col("count").cast(pl.Int64))


def bands_of(signals: pl.DataFrame) -> pl.DataFrame:
    """The bands (columns of BANDS) of recorded signals: t, rep, row, signal, value."""
    value = pl.col("value")
    quantiles = [value.quantile(level, interpolation="linear").alias(f"q{int(100 * level):02d}") for level in LEVELS]
    return signals.group_by("t", "row", "signal", maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("count"), value.mean().alias("mean"), *quantiles
    )


def _summary(values: Array) -> Array:
    """Count, mean and quantiles of each row, NaN left out; quantiles lie between neighbours in proportion."""
    ordered = np.sort(values, axis=1)  # NaN goes last
    told = ~np.isnan(values)
    count = told.sum(axis=1)
    mean = np.divide(np.where(told, values, 0.0).sum(axis=1), count, out=np.full(len(values), np.nan), where=count > 0)
    found = [count.astype(np.float64), mean]
    row, last = np.arange(len(values)), np.maximum(count - 1, 0)
    for level in LEVELS:
        at = level * last
        low = at.astype(np.int64)
        high = np.minimum(low + 1, last)
        left, right = ordered[row, low], ordered[row, high]
        found.append(left + (at - low) * (right - left))
    return np.stack(found, axis=1)
