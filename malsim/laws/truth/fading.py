"""How fast facts change, estimated from the claims: how rarely what was said once is what was said last."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Array, Bools, Ints

__all__ = ["Fading", "fading"]

GRID = np.geomspace(1.0, 3650.0, 49)  # d
EXCLUDED = 6.63  # the 99 % point of chi-square with one degree: how much likelier than "never" a time constant must be
WITHIN = 3.84  # its 95 % point: how much less likely the ends of the interval may be
FLAT = 1e-12  # of a sum of squares: what rounding leaves of no spread
HALF = 0.5  # of a squared error, so that a few claims that happen to fit prove nothing


class Fading(NamedTuple):
    """Of each claim its weight, and the time constant of its facts in days with its 95 % interval, 0 where none is found."""

    weight: Array
    tau: Array
    low: Array
    high: Array


def fading(kind: Ints, object_: Ints, value: Ints, time: Array) -> Fading:
    """What age leaves of each claim, by how the claims of its kind agree with the newest about the same object.

    y_i = b + a exp(−g_i / τ),  g_i = t_newest(o) − t_i,  y_i whether claim i and the newest say the same,  a, b ≥ 0;
    e_i = exp(−g_i / τ) where m log(SSE(never) / SSE(τ)) > 6.63, else 1

    τ is the best of 49 from a day to ten years by least squares, m the number of objects whose newest value somebody left
    behind still denies. Only objects are asked whose newest value has two voices: one liar who denies old facts changes
    none. The kind of an object is that of its newest claim. One claim a writer and object is expected.

    >>> about = np.tile(np.arange(20), 3)
    >>> time = np.concatenate([np.zeros(20), 300.0 - np.arange(20), np.full(20, 300.0)])
    >>> fit = fading(np.zeros(60, dtype=int), about, np.repeat([0, 1, 1], 20), time)
    >>> bool(0.0 < fit.tau[0] < 300.0), bool(fit.weight[0] < 0.1), float(fit.weight[-1])
    (True, True, 1.0)
    """
    last = _newest(object_, time)
    kinds, group = np.unique(kind[last], return_inverse=True)
    gap = time[last] - time
    agrees = value[last] == value
    older = last != np.arange(len(last))
    seconded = np.bincount(object_, weights=agrees & older) > 0.0
    rows = np.flatnonzero(older & seconded[object_])
    known, best, low, high = _fit(gap[rows], agrees[rows].astype(np.float64), group[rows], object_[rows], len(kinds))
    tau, low, high = (np.where(known, GRID[place], 0.0)[group] for place in (best, low, high))
    weight = np.exp(-gap / np.where(tau > 0.0, tau, np.inf))
    return Fading(weight, tau, low, high)


def _newest(object_: Ints, time: Array) -> Ints:
    """Of each claim the row of the newest about its object; of one time the last row."""
    order = np.lexsort((time, object_))
    ends = np.ones(len(order), dtype=bool)
    ends[:-1] = object_[order[:-1]] != object_[order[1:]]
    rows: Ints = np.zeros(int(object_.max(initial=-1)) + 1, dtype=np.int64)
    rows[object_[order[ends]]] = order[ends]
    return rows[object_]


def _fit(gap: Array, agrees: Array, group: Ints, object_: Ints, groups: int) -> tuple[Bools, Ints, Ints, Ints]:
    """Of each group whether "never" is excluded, and the places in the grid of the best τ and of its interval's ends."""
    errors = np.stack([_errors(np.exp(-gap / tau), agrees, group, groups) for tau in GRID])
    never, least = _errors(np.zeros(len(gap)), agrees, group, groups), errors.min(axis=0)
    changed = np.flatnonzero(agrees == 0.0)
    facts = _sums(1.0, group[changed[np.unique(object_[changed], return_index=True)[1]]], groups)
    known = facts * np.log((never + HALF) / (least + HALF)) > EXCLUDED
    near = facts * np.log((errors + HALF) / (least + HALF)) <= WITHIN
    return known, errors.argmin(axis=0), near.argmax(axis=0), len(GRID) - 1 - near[::-1].argmax(axis=0)


def _errors(x: Array, y: Array, group: Ints, groups: int) -> Array:
    """The squared error of each group about its line b + a x, a and b not below 0."""
    count = np.maximum(_sums(1.0, group, groups), 1.0)
    mean, level, xx, xy, yy = (_sums(part, group, groups) for part in (x, y, x * x, x * y, y * y))
    mean, level = mean / count, level / count
    spread, both = xx - count * mean * mean, xy - count * mean * level
    slope = np.divide(both, spread, out=np.zeros(groups), where=(spread > FLAT * xx) & (both > 0.0))
    through = np.divide(xy * xy, xx, out=np.zeros(groups), where=xx > 0.0)
    by_line = np.where(slope * mean > level, through, count * level * level + slope * both)
    return np.maximum(yy - by_line, 0.0)


def _sums(values: Array | float, group: Ints, groups: int) -> Array:
    total: Array = np.bincount(group, weights=np.broadcast_to(values, len(group)), minlength=groups)
    return total
