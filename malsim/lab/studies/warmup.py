"""Warm-up length and steady-state mean of a series (MSER-5)."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from malsim.base.errors import UsageError

Array: TypeAlias = NDArray[np.float64]
BATCH = 5
LEAST = 4


def mser5(series: Array) -> NDArray[np.int64]:
    """Return how many warm-up values to drop from each series: a multiple of five, at most half of the series.

    The number d of dropped means minimises Σ_{i ≥ d} (z_i − mean of z_d …)² / (n − d)², the squared standard error of the
    others; z are means of five values. If half of a series is dropped, it may not have settled. Source: White, An effective
    truncation heuristic for bias reduction in simulation output, 1997; batches of five: White, Cobb and Spratt, 2000.

    Parameters
    ----------
    series
        Shape (ticks,) or (ticks, series), 20 ticks or more, no NaN.

    >>> int(mser5(np.r_[np.linspace(5.0, 0.0, 20), np.tile([0.1, -0.1, 0.0], 40)]))
    20
    """
    count = len(series) // BATCH
    if count < LEAST:
        allowed = f"{LEAST * BATCH} ticks or more"
        raise UsageError(
            "the series is too short to estimate a warm-up", where="mser5", given=f"{len(series)} ticks", allowed=allowed
        )
    means = series[: count * BATCH].reshape(count, BATCH, *series.shape[1:]).mean(axis=1)
    deviation = means - means.mean(axis=0)
    remaining = np.arange(count, 0, -1).reshape(-1, *[1] * (means.ndim - 1))
    rest, squares = (np.cumsum(part[::-1], axis=0)[::-1] for part in (deviation, deviation**2))
    error = (squares - rest**2 / remaining) / remaining**2
    dropped: NDArray[np.int64] = error[: count // 2 + 1].argmin(axis=0) * BATCH
    return dropped


def steady_mean(values: Array) -> Array:
    """Return the mean of each column after its warm-up, shape (columns,). Leading NaN values are ignored.

    Raises `UsageError` for a column with a gap, or with fewer than 20 values.
    """
    return np.array([_steady(column) for column in values.T])


def _steady(column: Array) -> float:
    present = ~np.isnan(column)
    values = column[present.argmax() :] if present.any() else column[:0]
    if np.isnan(values).any():
        raise UsageError(
            "a steady mean needs a value at every tick",
            where="steady",
            hint="measure a cell that exists from the first tick on",
        )
    return float(values[int(mser5(values)) :].mean())
