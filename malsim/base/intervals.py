"""Intervals: of means, shares, counts and lifetimes, and of whatever was drawn again."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Bools = NDArray[np.bool_]

__all__ = ["CONFIDENCE", "ends", "kaplan_meier", "poisson", "resamples", "student", "wilson"]

CONFIDENCE = 0.95
Z = 1.959963984540054


def student(values: Array, *, confidence: float = CONFIDENCE) -> tuple[float, float, float]:
    """Mean and Student's t interval of independent values, NaN left out; with fewer than two the ends are NaN.

    mean ± t(n − 1) · s / √n.

    >>> [round(end, 3) for end in student(np.array([1.0, 2.0, 3.0]))]
    [2.0, -0.484, 4.484]
    """
    from scipy.special import stdtrit

    sample = values[~np.isnan(values)]
    count = len(sample)
    mean = float(sample.mean()) if count else np.nan
    if count < 2:  # noqa: PLR2004  # one value has no spread
        return mean, np.nan, np.nan
    half = float(stdtrit(count - 1, (1.0 + confidence) / 2.0) * sample.std(ddof=1) / np.sqrt(count))
    return mean, mean - half, mean + half


def wilson(share: Any, trials: Any) -> tuple[Any, Any]:
    """Wilson's 95 % score interval of shares of so many trials, between 0 and 1; numbers, or arrays of one shape.

    Source: Wilson, Probable inference, 1927.

    >>> [round(float(end), 4) for end in wilson(0.95, 100)]
    [0.8882, 0.9785]
    """
    scale = 1.0 + Z**2 / trials
    middle = (share + Z**2 / (2.0 * trials)) / scale
    half = Z / scale * np.sqrt(share * (1.0 - share) / trials + Z**2 / (4.0 * trials**2))
    return np.clip(middle - half, 0.0, share), np.clip(middle + half, share, 1.0)


def poisson(count: float) -> tuple[float, float]:
    """Garwood's 95 % interval of the mean of a Poisson count.

    >>> [round(end, 3) for end in poisson(0.0)]
    [0.0, 3.689]
    """
    from scipy.special import chdtri

    return (float(chdtri(2.0 * count, 0.975)) / 2.0 if count else 0.0), float(chdtri(2.0 * count + 2.0, 0.025)) / 2.0


def kaplan_meier(duration: Array, ended: Bools) -> tuple[Array, Array, Array, Array]:
    """The share still standing as observed, with its 95 % interval (log-log, Greenwood): times, share, low, high.

    Where all or none are left there is no interval: NaN.
    """
    from scipy.stats import CensoredData, ecdf

    curve = ecdf(CensoredData(uncensored=duration[ended], right=duration[~ended])).sf
    with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # as the docstring says
        bounds: Any = curve.confidence_interval(method="log-log")
    return curve.quantiles, curve.probabilities, bounds.low.probabilities, bounds.high.probabilities


def resamples(count: int, times: int, *, seed: int) -> NDArray[np.int64]:
    """How often each of `count` things is drawn when as many are drawn anew, shape (times, count): a bootstrap.

    >>> resamples(3, 2, seed=0).sum(axis=1).tolist()
    [3, 3]
    """
    draws = np.random.Generator(np.random.Philox(key=seed))
    return draws.multinomial(count, np.full(count, 1.0 / max(count, 1)), size=times)


def ends(draws: Array, *, axis: int | None = None) -> tuple[Any, Any]:
    """The 2.5 % and 97.5 % quantiles of what was drawn again, NaN left out; NaN where nothing else is there.

    >>> ends(np.array([0.0, 1.0, 2.0, np.nan]))
    (0.05, 1.95)
    """
    if not np.isfinite(draws).any():
        return np.nan, np.nan
    low, high = np.nanquantile(draws, [0.025, 0.975], axis=axis)
    return (float(low), float(high)) if axis is None else (low, high)
