"""The structures of a design: a smoothing and a hold, each at the level that gives the target run length."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.lab.tripwire.runs.block_intervals import run_length

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.lab.tripwire.runs.block_intervals import Interval

    Floats = NDArray[np.float64]

GAINS = (1.0, 0.5, 0.3, 0.2, 0.1)
HOLDS = (1, 2, 3, 5)
WARM = 60  # quiet ticks before the shift
AIM = 1.05  # share of the target to aim at, so that chance alone seldom misses it
STEPS = 40  # bisections of the level


def to_compare(away: Floats, gain: float, hold: int) -> Floats:
    """Return the value that is compared with the level: the least smoothed value of the last `hold` ticks."""
    from scipy.signal import lfilter

    smooth: Floats = away if gain == 1 else np.asarray(lfilter([gain], [1.0, gain - 1.0], away, axis=0))
    if hold == 1:
        return smooth
    least: Floats = np.lib.stride_tricks.sliding_window_view(smooth, hold, axis=0).min(axis=-1)
    return np.concatenate([np.full((hold - 1, smooth.shape[1]), -np.inf), least])


def _run_length_to(beyond: Floats, level: float) -> Interval:
    """The average run length to the first value above a level, of running maxima (ticks × replications)."""
    ticks = len(beyond)
    below = (beyond <= level).sum(axis=0)
    return run_length(np.minimum(below + 1, ticks).astype(np.float64), below < ticks)


def _level(beyond: Floats, arl0: float) -> float:
    """The level at which quiet running maxima give the ARL0, from between the smallest and the greatest of them."""
    low, high = float(beyond[np.isfinite(beyond)].min()), float(beyond[-1].max())
    for _ in range(STEPS):
        middle = (low + high) / 2
        length = _run_length_to(beyond, middle).value
        low, high = (low, middle) if np.isnan(length) or length > arl0 else (middle, high)
    return (low + high) / 2


def candidates(quiet: Floats, shifted: Floats, arl0: float, delay: float) -> pl.DataFrame:
    """Return each structure at its level: gain, hold, level, arl0, arl1, reached."""
    rows = []
    for gain in GAINS:
        for hold in HOLDS:
            reach = np.maximum.accumulate(to_compare(quiet, gain, hold), axis=0)
            level = _level(reach, AIM * arl0)
            values = to_compare(shifted, gain, hold)
            calm = ~(values[:WARM] > level).any(axis=0)
            arl1 = _run_length_to(np.maximum.accumulate(values[WARM:, calm], axis=0), level).value
            rows.append((gain, hold, level, _run_length_to(reach, level).value, arl1, bool(arl1 <= delay)))
    return pl.DataFrame(rows, schema=["gain", "hold", "level", "arl0", "arl1", "reached"], orient="row")


def preferred(structures: pl.DataFrame) -> dict[str, float]:
    """Return the simplest structure that is fast enough, else the fastest."""
    good = structures.filter("reached")
    if good.is_empty():
        return structures.sort("arl1", "hold").row(0, named=True)
    parts = (pl.col("gain") < 1).cast(pl.Int8) + (pl.col("hold") > 1).cast(pl.Int8)
    return good.sort(parts, "arl1", "hold").row(0, named=True)
