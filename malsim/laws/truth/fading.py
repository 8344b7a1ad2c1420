"""Estimator of how fast facts change, based on how often earlier claims agree with the newest claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from malsim.laws.truth.evidence import sums

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Array, Ints

GRID = np.geomspace(1.0, 3650.0, 49)  # candidate time constants, in days
EXCLUDED = 6.63  # 99 % quantile of χ² with one degree of freedom, above which "facts never change" is rejected
WITHIN = 3.84  # 95 % quantile of χ² with one degree of freedom, for the 95 % interval of τ
FLAT = 1e-12  # sums of squares up to this bound are rounding errors
HALF = 0.5  # added to squared errors, so that a few claims that fit by chance are not decisive


class Fading(NamedTuple):
    """Weight and time constant (days, with a 95 % interval) of each claim. The time constant is 0 if facts do not change."""

    weight: Array
    tau: Array
    low: Array
    high: Array


def fading(kind: Ints, writer: Ints, object_: Ints, value: Ints, time: Array) -> Fading:
    """Compute each claim's weight by age, based on how often older claims agree with the newest about the same object.

    y_i = b_w + a exp(−g_i / τ),  g_i = t_newest(o) − t_i,  y_i = 1 if claim i and the newest agree, else 0,  a ≥ 0;
    e_i = exp(−g_i / τ) where m log(SSE(never) / SSE(τ)) > 6.63, else 1

    τ is the best of 49 values from a day to ten years by least squares; m is the number of objects used. An object is
    used if its newest value has two writers, so that one liar who denies old facts has no effect, and if an older claim
    denies that value. Each writer has a level b_w (the mean level is at least 0), so that a writer with a constant
    error rate has no effect. An object has the kind of its newest claim. Expects one claim per writer and object.

    >>> about, writer = np.tile(np.arange(20), 3), np.repeat([0, 1, 2], 20)
    >>> value = np.concatenate([about[:20] % 2, 1 - about[:20] % 2, np.ones(20, dtype=int)])  # two see every other change
    >>> time = np.where(value == 1, 300.0 - about, 0.0)
    >>> fit = fading(np.zeros(60, dtype=int), writer, about, value, time)
    >>> bool(0.0 < fit.tau[0] < 300.0), bool(fit.weight[0] < 0.1), bool(fit.weight[1] > 0.9)
    (True, True, True)
    """
    last = _newest(object_, time)
    kinds, group = np.unique(kind[last], return_inverse=True)
    gap = time[last] - time
    agrees = value[last] == value
    older = last != np.arange(len(last))
    seconded = np.bincount(object_, weights=agrees & older) > 0.0
    denied = np.bincount(object_, weights=~agrees) > 0.0
    rows = np.flatnonzero(older & (seconded & denied)[object_])
    speaker = np.unique(np.stack([group[rows], writer[rows]]), axis=1, return_inverse=True)[1].ravel()
    agreement, groups, count = agrees[rows].astype(np.float64), group[rows], len(kinds)
    errors = np.stack([_errors(np.exp(-gap[rows] / tau), agreement, groups, speaker, count) for tau in GRID])
    never, least = _errors(np.zeros(len(rows)), agreement, groups, speaker, count), errors.min(axis=0)
    facts = np.bincount(groups[np.unique(object_[rows], return_index=True)[1]], minlength=count)
    changes = facts * np.log((never + HALF) / (least + HALF)) > EXCLUDED
    near = facts * np.log((errors + HALF) / (least + HALF)) <= WITHIN
    ends = near.argmax(axis=0), len(GRID) - 1 - near[::-1].argmax(axis=0)
    tau, low, high = (np.where(changes, GRID[index], 0.0)[group] for index in (errors.argmin(axis=0), *ends))
    weight: Array = np.exp(-gap / np.where(tau > 0.0, tau, np.inf))
    return Fading(weight, tau, low, high)


def _newest(object_: Ints, time: Array) -> Ints:
    """Return, for each claim, the row of the newest claim about its object. If times are equal, the last row wins."""
    order = np.lexsort((time, object_))
    ends = np.ones(len(order), dtype=bool)
    ends[:-1] = object_[order[:-1]] != object_[order[1:]]
    rows: Ints = np.zeros(int(object_.max(initial=-1)) + 1, dtype=np.int64)
    rows[object_[order[ends]]] = order[ends]
    return rows[object_]


def _errors(x: Array, y: Array, group: Ints, writer: Ints, count: int) -> Array:
    """Return each group's sum of squared errors of the fit b_w + a x, with a ≥ 0 and a mean b_w of at least 0."""
    claims = np.maximum(np.bincount(writer), 1)
    within = [part - (np.bincount(writer, weights=part) / claims)[writer] for part in (x, y)]
    both, spread = (sums(within[0] * part, group, count) for part in (within[1], within[0]))
    slope = np.divide(both, spread, out=np.zeros(count), where=(spread > FLAT) & (both > 0.0))
    level, mean = sums(y, group, count), sums(x, group, count)
    slope = np.minimum(slope, np.divide(level, mean, out=np.zeros(count), where=mean > FLAT))
    residual = within[1] - slope[group] * within[0]
    return sums(residual * residual, group, count)
