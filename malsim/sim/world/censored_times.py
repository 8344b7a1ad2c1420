"""Censored times as spells: their mean pooled over replications, and the share that is unknown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from malsim.base.intervals import COUNT, jackknife, mean_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from malsim.memory.graph.arrays import Array, Bools, Ints

    Spells: TypeAlias = list[tuple[Ints, Array, Bools]]

__all__ = ["CensoredMean", "Spells", "censored_mean", "own_means", "pseudo_values", "spells_of"]

BLOCKS, MOST_LEFT = 200, 0.5
LEVEL = 0.98  # instead of .975: a jackknife over few replications underestimates the spread


class HasSpells(Protocol):
    """Scores whose times are spells."""

    @property
    def spells(self) -> dict[str, Spells]: ...


@dataclass(frozen=True)
class CensoredMean:
    """Mean of days with censored spells: its interval, the longest spell, and the share of spells that had not ended.

    `value` is NaN where more than a half outlast `horizon`: then no mean is known.
    """

    value: float
    low: float
    high: float
    horizon: float
    censored: float
    spells: int

    def __str__(self) -> str:
        words = f"{self.spells} spells, {self.censored:.0%} not seen to their end, none longer than {self.horizon:g} d"
        return f"> {self.horizon:g} d for more than a half; {words}" if np.isnan(self.value) else words


def censored_mean(spells: Spells, replications: int) -> CensoredMean | None:
    """Return the mean length of spells, pooled over replications with censoring; None without spells.

    The area under the Kaplan-Meier curve S up to the longest spell H, and S(H) · exposure / ends beyond it: there ends are
    taken to come as often as before. The interval is the wider, on each side, of a log-normal one by a jackknife over the
    replications that have a spell (200 blocks at most) and that of `mean_interval` of their pseudo-values: of one, or where
    all are alike, there is none. Sources: Kaplan and Meier, 1958; Brown, Hollander and Korwar, 1974.

    >>> two = [(np.array([0, 0, 1, 1]), np.array([2.0, 4.0, 2.0, 3.0]), np.array([True, False, True, True]))]
    >>> print(censored_mean(two, 2), round(censored_mean(two, 2).value, 2))
    4 spells, 25% not seen to their end, none longer than 4 d 3.67
    """
    if not spells:
        return None
    days, ended = (np.concatenate([spell[part] for spell in spells]) for part in (1, 2))
    mean, left, without = _means(spells, min(replications, BLOCKS), some=True)
    horizon, censored = float(days.max()), float(1.0 - ended.mean())
    if left > MOST_LEFT:
        return CensoredMean(np.nan, np.nan, np.nan, horizon, censored, len(days))
    return CensoredMean(float(mean), *_ends(float(mean), without), horizon, censored, len(days))


def pseudo_values(spells: Spells, replications: int) -> Array:
    """Return each replication's pseudo-value of the pooled mean: n θ − (n − 1) θ without it; NaN if θ is unknown.

    Their mean is the pooled one but for the jackknife's bias, so that pairs of them can be compared. Source: Andersen, Klein
    and Rosthøj, 2003.

    >>> pseudo_values([(np.array([0, 1]), np.array([2.0, 4.0]), np.array([True, True]))], 2).tolist()
    [2.0, 4.0]
    """
    if not spells:
        return np.full(replications, np.nan)
    mean, left, without = _means(spells, replications)
    if left > MOST_LEFT or replications == 1:
        return np.full(replications, mean if left <= MOST_LEFT else np.nan)
    others = np.where(np.isfinite(without), without, np.nan)  # infinite if no other spell ended
    item: Array = replications * mean - (replications - 1) * others
    return item


def _means(spells: Spells, blocks: int, *, some: bool = False) -> tuple[float, float, Array]:
    """Return the pooled mean, the share longer than the longest spell, and the mean without each block of replications.

    With `some` the last is NaN of a block that has no spell.
    """
    time, ends, count = _counts(spells, blocks)
    mean, left = _area(time, ends.sum(axis=0), count.sum(axis=0))
    without, _ = _area(time, ends.sum(axis=0) - ends, count.sum(axis=0) - count)
    without = np.where(count.any(axis=1), without, np.nan) if some else without
    return float(mean), float(left), without


def _counts(spells: Spells, blocks: int) -> tuple[Array, Array, Array]:
    rep, days, ended = (np.concatenate(part) for part in zip(*spells, strict=True))
    time, index = np.unique(days, return_inverse=True)
    at = rep % blocks * len(time) + index
    size = blocks * len(time)
    ends, count = (np.bincount(at, part, minlength=size).reshape(blocks, -1) for part in (ended, np.ones(len(at))))
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
    if len(others) < 2 or np.ptp(others) == 0.0:  # noqa: PLR2004  # one has no spread
        return np.nan, np.nan
    half = jackknife(np.log(others[others > 0.0]), quantile=LEVEL)
    _, low, high = mean_interval(len(others) * mean - (len(others) - 1) * others, COUNT)
    return float(np.fmin(mean * np.exp(-half), min(low, mean))), float(np.fmax(mean * np.exp(half), max(high, mean)))


def spells_of(scores: Iterable[HasSpells | None], broken: Sequence[int]) -> dict[str, Spells]:
    return {
        name: [(rep[ok], days[ok], ended[ok]) for rep, days, ended in item if (ok := ~np.isin(rep, broken)).any()]
        for part in scores
        if part is not None
        for name, item in part.spells.items()
    }


def own_means(spells: Spells, replications: int) -> Array:
    """Return `censored_mean` of each replication's own spells, in days; NaN if it is unknown or there are no spells.

    >>> own_means([(np.array([0, 0, 1]), np.array([2.0, 4.0, 9.0]), np.array([True, True, False]))], 3).tolist()
    [3.0, nan, nan]
    """
    means = np.full(replications, np.nan)
    if not spells:
        return means
    rep, days, ended = (np.concatenate(part) for part in zip(*spells, strict=True))
    for item in np.unique(rep):  # lengths of other replications would regroup the sums and change the last bit
        here = rep == item
        (mean,), (left,) = _area(*_counts([(np.zeros_like(rep[here]), days[here], ended[here])], 1))
        means[item] = mean if left <= MOST_LEFT else np.nan
    return means
