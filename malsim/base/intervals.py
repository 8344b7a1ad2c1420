"""Confidence intervals for means, shares, counts, lifetimes and bootstrap samples."""

from __future__ import annotations

import warnings
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Bools = NDArray[np.bool_]

CONFIDENCE = 0.95
Z = 1.959963984540054
Bounds: TypeAlias = tuple[float, float]
ANY: Bounds = (-inf, inf)
SHARE: Bounds = (0.0, 1.0)
COUNT: Bounds = (0.0, inf)
PATIENCE = 64
STOPPED = 0.975  # confidence level of share and Hall intervals, raised because a sample may stop at a narrow one
STOPPED_EARLY = 0.965  # confidence level of Student's t interval if sampling stopped before 64 values
SKEWED = 1.0
# factors applied to the skewness; if it is large, the smaller factor gives the wider interval
INFLATED = (2.0, 2.5)
ALIKE = 1e-3
TRIALS = 4.0


def mean_interval(values: Array, bounds: Bounds = ANY, *, stopped: bool = False) -> tuple[float, float, float]:
    """Compute the mean of independent values and its 95 % interval, clipped to `bounds`. NaN values are ignored.

    - Values that are all 0 or 1: the Clopper–Pearson interval.
    - Other values: Student's t; if the skewness γ is above 1, also Hall's interval, which inverts
      t + γ t² / 3 + γ² t³ / 27 + γ / 6n with 2 γ and 2.5 γ in place of γ, because small samples underestimate γ.
    - With two bounds, also the Korn–Graubard interval: the Clopper–Pearson interval for a share
      p = (mean − low) / (high − low) in p (1 − p) / s² · (z / t)² trials, at most 4 n³, where s is the standard error
      of p. If several intervals apply, the result has the wider end on each side.
    - Values that agree to a thousandth of the width of the bounds: a share 1 − .025^(1/n) of unseen values may lie at
      either bound. Without bounds the ends are NaN.

    `stopped` is for samples that end as soon as the interval is narrow enough, which reduces coverage: Student's level is
    then 96.5 % for fewer than 64 values. The level of shares and of Hall's interval is always 97.5 %. With fewer than two
    values the ends are NaN. A sample of n values rarely contains events that occur in fewer than 2.5 of n; if these shift
    the mean, the coverage is lower. Sources: Clopper and Pearson, 1934; Hall, 1992; Korn and Graubard, 1998.

    >>> [round(end, 3) for end in mean_interval(np.array([0.0] * 9 + [1.0]))]
    [0.1, 0.001, 0.491]
    >>> [round(end, 3) for end in mean_interval(np.array([1.0, 2.0, 3.0]), stopped=True)]
    [2.0, -1.004, 5.004]
    >>> [round(end, 3) for end in mean_interval(np.array([0.98, 1.0, 1.0, 1.0]), SHARE)]
    [0.995, 0.943, 1.0]
    """
    sample = values[~np.isnan(values)]
    if len(sample) < 2:  # noqa: PLR2004  # one value has no spread
        return (float(sample[0]) if len(sample) else np.nan), np.nan, np.nan
    mean = float(sample.mean()) if np.ptp(sample) else float(sample[0])
    if np.ptp(sample) <= (ALIKE * (bounds[1] - bounds[0]) if _closed(bounds) else 0.0):
        if not _closed(bounds):
            return mean, np.nan, np.nan
        share = 1.0 - ((1.0 - CONFIDENCE) / 2.0) ** (1.0 / len(sample))
        return mean, mean - share * (mean - bounds[0]), mean + share * (bounds[1] - mean)
    if _is_share(sample):
        return mean, *_binomial(float(sample.sum()), len(sample), STOPPED)
    return mean, *_ends(sample, bounds, stopped=stopped)


def difference_interval(
    values: Array, base: Array, bounds: Bounds = ANY, *, stopped: bool = False
) -> tuple[float, float, float]:
    """Compute the mean paired difference `values` − `base` and its 95 % interval. Both samples lie within `bounds`.

    As in `mean_interval`, except that nearly equal differences count in full, because they result from common random
    numbers. If all differences are equal, the ends are NaN.

    >>> same = np.array([0.9, 0.8, 1.0])
    >>> difference_interval(same, same, SHARE)
    (0.0, nan, nan)
    >>> [round(end, 3) for end in difference_interval(np.array([1.0, 1.0, 0.5]), np.array([0.0, 0.0, 0.5]), SHARE)]
    [0.667, -0.976, 1.0]
    """
    differences = values - base
    sample = differences[~np.isnan(differences)]
    if len(sample) < 2 or np.ptp(sample) == 0.0:  # noqa: PLR2004  # one pair has no spread
        return (float(sample[0]) if len(sample) else np.nan), np.nan, np.nan
    return float(sample.mean()), *_ends(sample, (bounds[0] - bounds[1], bounds[1] - bounds[0]), stopped=stopped)


def mean_of(values: Array) -> float:
    """Return the mean of the values, ignoring NaN. Return NaN if all are NaN."""
    sample = values[~np.isnan(values)]
    return float(sample.mean()) if len(sample) else np.nan


def skewness(values: Array) -> float:
    """Compute the third standardised moment, ignoring NaN. Return 0 if all values are equal or all are 0 or 1."""
    sample = values[~np.isnan(values)]
    if len(sample) < 2 or np.ptp(sample) == 0.0 or _is_share(sample):  # noqa: PLR2004  # one value has no spread
        return 0.0
    away = (sample - sample.mean()) / np.ptp(sample)  # scaled so that squares do not underflow
    return float((away**3).mean() / (away**2).mean() ** 1.5)


def _ends(values: Array, bounds: Bounds, *, stopped: bool) -> tuple[float, float]:
    level = STOPPED_EARLY if stopped and len(values) < PATIENCE else CONFIDENCE
    ends = [student(values, confidence=level)[1:]]
    if abs(skewness(values)) > SKEWED:
        ends.append(_hall(values))
    if _closed(bounds) and values.var() > 0.0:
        ends.append(_bounded(values, bounds))
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    return max(low, bounds[0]), min(high, bounds[1])


def _closed(bounds: Bounds) -> bool:
    return isfinite(bounds[0]) and isfinite(bounds[1])


def _is_share(values: Array) -> bool:
    return bool(((values == 0.0) | (values == 1.0)).all())


def _hall(values: Array) -> tuple[float, float]:
    from scipy.special import stdtrit

    count, spread = len(values), float(values.std(ddof=1))
    reach = float(stdtrit(count - 1, (1.0 + STOPPED) / 2.0)) / np.sqrt(count)
    gammas = np.array(INFLATED) * skewness(values)
    shifts = [3.0 / gammas * (np.cbrt(1.0 + gammas * (end - gammas / (6.0 * count))) - 1.0) for end in (reach, -reach)]
    least, most = (float(values.mean()) - spread * item for item in shifts)
    return min(*least, values.mean() - reach * spread), max(*most, values.mean() + reach * spread)


def _bounded(values: Array, bounds: Bounds) -> tuple[float, float]:
    from scipy.special import stdtrit

    width = bounds[1] - bounds[0]
    share = float(values.mean() - bounds[0]) / width
    narrowed = Z / float(stdtrit(len(values) - 1, (1.0 + CONFIDENCE) / 2.0))
    trials = share * (1.0 - share) / (float(values.var(ddof=1)) / width**2 / len(values))
    trials = min(trials, TRIALS * len(values) ** 3) * narrowed**2
    low, high = _binomial(share * trials, trials, CONFIDENCE)
    return bounds[0] + width * low, bounds[0] + width * high


def _binomial(ones: float, trials: float, level: float) -> tuple[float, float]:
    from scipy.special import betaincinv

    tail, zeros = (1.0 - level) / 2.0, trials - ones
    low = float(betaincinv(ones, zeros + 1.0, tail)) if ones > 0.0 else 0.0
    return low, float(betaincinv(ones + 1.0, zeros, 1.0 - tail)) if zeros > 0.0 else 1.0


def student(values: Array, *, confidence: float = CONFIDENCE, least_spread: float = 0.0) -> tuple[float, float, float]:
    """Compute the mean of independent values and its Student's t interval, ignoring NaN.

    With fewer than two values the ends are NaN.

    mean ± t(n − 1) · s / √n, with a standard deviation s of at least `least_spread`.

    >>> [round(end, 3) for end in student(np.array([1.0, 2.0, 3.0]))]
    [2.0, -0.484, 4.484]
    """
    from scipy.special import stdtrit

    sample = values[~np.isnan(values)]
    count = len(sample)
    mean = float(sample.mean()) if count else np.nan
    if count < 2:  # noqa: PLR2004  # one value has no spread
        return mean, np.nan, np.nan
    spread = max(sample.std(ddof=1), least_spread)
    half = float(stdtrit(count - 1, (1.0 + confidence) / 2.0) * spread / np.sqrt(count))
    return mean, mean - half, mean + half


def welch(values: Array, base: Array) -> tuple[float, float]:
    """Compute Welch's 95 % interval for the difference between the means of two independent samples.

    Rows with a NaN are left out.

    >>> [round(end, 3) for end in welch(np.array([2.0, 3.0, 4.0]), np.array([1.0, 2.0, 3.0]))]
    [-1.267, 3.267]
    """
    from scipy.stats import ttest_ind

    present = ~np.isnan(values) & ~np.isnan(base)
    ours, theirs = values[present], base[present]
    if not (np.ptp(ours) or np.ptp(theirs)):
        return (float((ours - theirs).mean()),) * 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # scipy warns about nearly equal values
        low, high = ttest_ind(ours, theirs, equal_var=False).confidence_interval(CONFIDENCE)
    return float(low), float(high)


def jackknife(without: Array, *, quantile: float = 0.975) -> float:
    """Compute the half-width of a jackknife interval from b estimates, each of which leaves out one block.

    Return NaN if b < 2.

    t(b − 1; quantile) · √((b − 1) / b · Σ (estimate − mean)²).
    """
    from scipy.special import stdtrit

    blocks = len(without)
    if blocks < 2:  # noqa: PLR2004  # one block has no spread
        return np.nan
    error = np.sqrt((blocks - 1) / blocks * ((without - without.mean()) ** 2).sum())
    return float(stdtrit(blocks - 1, quantile) * error)


def wilson(share: Any, trials: Any) -> tuple[Any, Any]:
    """Compute Wilson's 95 % score interval for shares, within [0, 1].

    The arguments are numbers or arrays of the same shape. Source: Wilson, Probable inference, 1927.

    >>> [round(float(end), 4) for end in wilson(0.95, 100)]
    [0.8882, 0.9785]
    """
    scale = 1.0 + Z**2 / trials
    middle = (share + Z**2 / (2.0 * trials)) / scale
    half = Z / scale * np.sqrt(share * (1.0 - share) / trials + Z**2 / (4.0 * trials**2))
    return np.clip(middle - half, 0.0, share), np.clip(middle + half, share, 1.0)


def poisson(count: float) -> tuple[float, float]:
    """Compute Garwood's 95 % interval for the mean of a Poisson count.

    >>> [round(end, 3) for end in poisson(0.0)]
    [0.0, 3.689]
    """
    from scipy.special import chdtri

    return (float(chdtri(2.0 * count, 0.975)) / 2.0 if count else 0.0), float(chdtri(2.0 * count + 2.0, 0.025)) / 2.0


def kaplan_meier(duration: Array, ended: Bools) -> tuple[Array, Array, Array, Array]:
    """Estimate the survival function and its 95 % interval (log-log, Greenwood).

    Return times, shares, and lower and upper ends. The interval is NaN while all survive and after the last one has died.
    """
    from scipy.stats import CensoredData, ecdf

    curve = ecdf(CensoredData(uncensored=duration[ended], right=duration[~ended])).sf
    with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # scipy warns about an empty or constant sample and returns NaN
        bounds: Any = curve.confidence_interval(method="log-log")
    return curve.quantiles, curve.probabilities, bounds.low.probabilities, bounds.high.probabilities


def resamples(count: int, times: int, *, seed: int) -> NDArray[np.int64]:
    """Draw bootstrap counts of shape (times, count): how often each of `count` items is drawn in `count` draws.

    >>> resamples(3, 2, seed=0).sum(axis=1).tolist()
    [3, 3]
    """
    draws = np.random.Generator(np.random.Philox(key=seed))
    return draws.multinomial(count, np.full(count, 1.0 / max(count, 1)), size=times)


def ends(draws: Array, *, axis: int | None = None) -> tuple[Any, Any]:
    """Return the 2.5 % and 97.5 % quantiles of bootstrap values, ignoring NaN. Return NaN if all are NaN.

    >>> ends(np.array([0.0, 1.0, 2.0, np.nan]))
    (0.05, 1.95)
    """
    if not np.isfinite(draws).any():
        return np.nan, np.nan
    low, high = np.nanquantile(draws, [0.025, 0.975], axis=axis)
    return (float(low), float(high)) if axis is None else (low, high)


def ends_if_any(ends: tuple[float, float, float]) -> tuple[float | None, float | None, float | None]:
    """Return the mean and the interval's two ends, with None instead of NaN, as frames store them."""
    mean, low, high = (None if np.isnan(end) else end for end in ends)
    return mean, low, high
