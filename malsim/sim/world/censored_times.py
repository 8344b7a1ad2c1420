"""Kaplan-Meier means of censored durations, pooled over replications or computed for each replication.

Spells are a list of parts, each with three columns: replication index, length in days, and whether the spell had ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from malsim.base.intervals import COUNT, jackknife, mean_interval

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Array, Bools, Ints

    Spells: TypeAlias = list[tuple[Ints, Array, Bools]]

BLOCKS = 200
MOST_CENSORED = 0.5  # no mean is reported if a larger share of spells is estimated to outlast the longest one
# above the usual 0.975, because a jackknife over few replications underestimates the spread
LEVEL = 0.98


@dataclass(frozen=True)
class CensoredMean:
    """Mean length of spells in days, with its 95 % interval, the longest spell, and the share of censored spells.

    `value` is NaN if more than half of the spells are estimated to outlast `horizon`, the longest spell.
    """

    value: float
    low: float
    high: float
    horizon: float
    censored: float
    spells: int

    def __str__(self) -> str:
        words = f"{self.spells} spells, {self.censored:.0%} censored, the longest {self.horizon:g} d"
        return f"> {self.horizon:g} d for more than half; {words}" if np.isnan(self.value) else words


def censored_mean(spells: Spells, replications: int) -> CensoredMean | None:
    """Return the mean length of censored spells, pooled over replications, or None if there are no spells.

    The mean is the area under the Kaplan-Meier curve S up to the longest spell H, plus S(H) · exposure / ends for the time
    beyond H, assuming the same rate of ends. Each end of the interval is the wider of two: that of a log-normal jackknife
    over replications with a spell (at most 200 blocks), and that of `mean_interval` of their pseudo-values. With one
    replication, or equal values, the interval is NaN. Sources: Kaplan and Meier, 1958; Brown, Hollander and Korwar, 1974.

    >>> two = [(np.array([0, 0, 1, 1]), np.array([2.0, 4.0, 2.0, 3.0]), np.array([True, False, True, True]))]
    >>> print(censored_mean(two, 2), round(censored_mean(two, 2).value, 2))
    4 spells, 25% censored, the longest 4 d 3.67
    """
    if not spells:
        return None
    days, ended = (np.concatenate([spell[part] for spell in spells]) for part in (1, 2))
    mean, left, without = _means(spells, min(replications, BLOCKS), some=True)
    horizon, censored = float(days.max()), float(1.0 - ended.mean())
    if left > MOST_CENSORED:
        return CensoredMean(np.nan, np.nan, np.nan, horizon, censored, len(days))
    return CensoredMean(float(mean), *_ends(float(mean), without), horizon, censored, len(days))


def pseudo_values(spells: Spells, replications: int) -> Array:
    """Return each replication's jackknife pseudo-value n θ − (n − 1) θ₋ᵢ of the pooled mean θ, or NaN if θ is unknown.

    θ₋ᵢ is the mean without replication i. The mean of the pseudo-values equals θ up to the jackknife's bias, so
    pseudo-values can be compared in pairs. Source: Andersen, Klein and Rosthøj, 2003.

    >>> pseudo_values([(np.array([0, 1]), np.array([2.0, 4.0]), np.array([True, True]))], 2).tolist()
    [2.0, 4.0]
    """
    if not spells:
        return np.full(replications, np.nan)
    mean, left, without = _means(spells, replications)
    if left > MOST_CENSORED or replications == 1:
        return np.full(replications, mean if left <= MOST_CENSORED else np.nan)
    # a leave-one-out mean is infinite if no other spell ended
    others = np.where(np.isfinite(without), without, np.nan)
    return np.asarray(replications * mean - (replications - 1) * others)


def _means(spells: Spells, blocks: int, *, some: bool = False) -> tuple[float, float, Array]:
    """Return the pooled mean, the share of spells that outlast the longest completed one, and the leave-one-block-out means.

    With `some`, the mean without a block that has no spell is NaN.
    """
    time, ends, count = _counts(spells, blocks)
    mean, left = _area(time, ends.sum(axis=0), count.sum(axis=0))
    without, _ = _area(time, ends.sum(axis=0) - ends, count.sum(axis=0) - count)
    without = np.where(count.any(axis=1), without, np.nan) if some else without
    return float(mean), float(left), without


def _counts(spells: Spells, blocks: int) -> tuple[Array, Array, Array]:
    rep, days, ended = (np.concatenate(part) for part in zip(*spells, strict=True))
    time, index = np.unique(days, return_inverse=True)
    cell, size = rep % blocks * len(time) + index, blocks * len(time)
    ends, count = (np.bincount(cell, part, minlength=size).reshape(blocks, -1) for part in (ended, np.ones(len(cell))))
    return time, ends.astype(np.float64), count.astype(np.float64)


def _area(time: Array, ends: Array, number: Array) -> tuple[Array, Array]:
    at_risk = np.cumsum(number[..., ::-1], axis=-1)[..., ::-1]
    alive = np.cumprod(1.0 - ends / np.maximum(at_risk, 1.0), axis=-1)
    before = np.concatenate([np.ones_like(alive[..., :1]), alive[..., :-1]], axis=-1)
    area = (before * np.diff(time, prepend=0.0) * (at_risk > 0)).sum(axis=-1)
    exposure, ended = (number * time).sum(axis=-1), ends.sum(axis=-1)
    left = np.where((ended > 0) & ((exposure > 0.0) | (alive[..., -1] == 0.0)), alive[..., -1], 1.0)
    beyond = np.divide(exposure, ended, out=np.full_like(exposure, np.inf), where=ended > 0)
    return np.where(left > 0.0, area + left * beyond, area), left


def _ends(mean: float, without: Array) -> tuple[float, float]:
    others = without[np.isfinite(without)]
    if len(others) < 2 or np.ptp(others) == 0.0:  # noqa: PLR2004  # a single value has no spread
        return np.nan, np.nan
    half = jackknife(np.log(others[others > 0.0]), quantile=LEVEL)
    _, low, high = mean_interval(len(others) * mean - (len(others) - 1) * others, COUNT)
    return float(np.fmin(mean * np.exp(-half), min(low, mean))), float(np.fmax(mean * np.exp(half), max(high, mean)))


def add_spells(spells: Spells, where: Bools, days: Array | float, *, ended: bool) -> None:
    """Append a spell for each marked entry of a table whose last axis is the replication."""
    index = np.nonzero(where)
    if len(index[-1]):
        spells.append((index[-1], np.broadcast_to(days, where.shape)[index], np.full(len(index[-1]), ended)))


def own_means(spells: Spells, replications: int) -> Array:
    """Return each replication's own Kaplan-Meier mean in days, or NaN if it is unknown or there are no spells.

    >>> own_means([(np.array([0, 0, 1]), np.array([2.0, 4.0, 9.0]), np.array([True, True, False]))], 3).tolist()
    [3.0, nan, nan]
    """
    means = np.full(replications, np.nan)
    if not spells:
        return means
    rep, days, ended = (np.concatenate(part) for part in zip(*spells, strict=True))
    # compute each mean separately, because other replications' spells would change the rounding of the sums
    for number in np.unique(rep):
        here = rep == number
        (mean,), (left,) = _area(*_counts([(np.zeros_like(rep[here]), days[here], ended[here])], 1))
        means[number] = mean if left <= MOST_CENSORED else np.nan
    return means
