"""Rates of change, error and reporting, estimated from the writer, value and time of each claim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.intervals import poisson
from malsim.lab.decay.likelihood import CHI_SQUARE

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Array, Ints

LEAST_ERROR = 1e-6
MOST_ERROR = 0.95  # highest error rate to try, as a share of the rate (K − 1)/K at which claims carry no information
MOST_CELLS = 2_000_000
SHORT, LONG = 0.05, 50.0  # bounds of τ, as multiples of the shortest gap and of the sum of all gaps
POINTS, NEAR, ROUNDS = 9, 5, 5
GRID, CLOSER = 21, 5
CLOSINGS = (3, 2)  # number of times that the grids of τ and ε are refined
RATES = {"quantity": pl.String, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "unit": pl.String}
Estimate = tuple[float, float, float]
UNKNOWN: Estimate = (np.nan, 0.0, np.inf)


@dataclass(frozen=True, eq=False)
class Chain:
    """Hidden Markov model of claims about n objects. Row k of `gap` and `value` holds the k-th claim about each object.

    `gap` (days since the previous claim) and `value` (index of the claimed value) have shape (T, n), with the longest
    columns first. `counts` is the number of claims per object, `choices` the number of values K, at least 2.

    The truth changes at rate 1/τ, to each of the other K − 1 values with equal probability. After d days it has the same
    value with probability P(d) = 1/K + (1 − 1/K) e^(−dK/((K − 1)τ)), returns included. A claim states the truth with
    probability 1 − ε, otherwise one of the other values. The likelihood sums over all truths (forward recursion).
    """

    gap: Array
    value: Ints
    counts: Ints
    choices: Ints

    @classmethod
    def of(cls, log: pl.DataFrame) -> Chain:
        stretches = log.select(
            key=pl.struct("rep", "object").rank("dense").cast(pl.Int64) - 1,
            value=pl.col("value").rank("dense").over("rep", "object").cast(pl.Int64) - 1,
            start="start",
            days=pl.concat_list(pl.lit([0.0]), "restated"),
        ).sort("key", "start", maintain_order=True)
        claims = stretches.with_row_index("row").explode("days")
        claims = claims.with_columns(t=pl.col("start") + pl.col("days").cum_sum().over("row"))
        key, value, t = (claims[name].to_numpy() for name in ("key", "value", "t"))
        counts = np.bincount(key)
        order = np.argsort(-counts, kind="stable")
        column = np.argsort(order)[key]
        begins = np.cumsum(counts) - counts
        row = np.arange(len(key)) - begins[key]
        shape = (int(counts.max()), len(counts))
        gap, values = np.zeros(shape), np.zeros(shape, dtype=np.int64)
        gap[row, column] = np.where(row > 0, np.diff(t, prepend=0.0), 0.0)
        values[row, column] = value
        choices = np.maximum(2, np.maximum.reduceat(value, begins) + 1)
        return cls(gap, values, counts[order], choices[order])

    @property
    def gaps(self) -> Array:
        """Days between successive claims about the same object, as a flat array."""
        inside = np.arange(1, len(self.gap))[:, None] < self.counts
        return self.gap[1:][inside]

    @property
    def bounds(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Search bounds of log τ and log ε. Outside the bounds of τ, the claims cannot distinguish τ from 0 or infinity."""
        gaps = self.gaps[self.gaps > 0.0]
        most = MOST_ERROR * float((1.0 - 1.0 / self.choices).min())
        return (np.log(SHORT * gaps.min()), np.log(LONG * gaps.sum())), (np.log(LEAST_ERROR), np.log(most))

    def loss(self, tau: Array, error: Array) -> Array:
        """Return the negative log-likelihood at points (τ in days, ε), both of shape (P,)."""
        size = max(1, MOST_CELLS // (len(self.counts) * int(self.choices.max())))
        parts = range(0, len(tau), size)
        return np.concatenate([self._loss(tau[at : at + size], error[at : at + size]) for at in parts])

    def _loss(self, tau: Array, error: Array) -> Array:
        k = self.choices.astype(np.float64)
        most, points = int(self.choices.max()), len(tau)
        even = np.where(np.arange(most) < k[:, None], 1.0 / k[:, None], 0.0)  # shape (n, K)
        speed = -(k / (k - 1.0)) / tau[:, None]  # shape (P, n)
        right, wrong = (1.0 - error)[:, None], error[:, None] / (k - 1.0)
        belief = np.tile(even, (points, 1, 1))  # shape (P, n, K)
        total = np.zeros(points)
        for turn in range(len(self.gap)):
            n = int(np.searchsorted(-self.counts, -turn))  # number of objects with more than `turn` claims
            same = np.exp(speed[:, :n] * self.gap[turn, :n])[:, :, None]
            belief = belief[:, :n] * same + (1.0 - same) * even[:n]
            index = np.arange(n) * most + self.value[turn, :n]
            claimed = belief.reshape(points, -1)[:, index]  # probability that the claimed value is true
            chance = claimed * right + (1.0 - claimed) * wrong[:, :n]
            total += np.log(chance).sum(axis=1)
            belief *= (wrong[:, :n] / chance)[:, :, None]
            belief.reshape(points, -1)[:, index] = claimed * right / chance
        return -total

    def profile(self, fixed: Array, *, parameter: int) -> tuple[Array, Array]:
        """Return the minimum loss for each fixed log τ (`parameter` 0) or log ε (1), and the other parameter's best value.

        The other parameter is searched on a grid that narrows in each round.
        """
        low, high = self.bounds[1 - parameter]
        middle, half = np.full(len(fixed), (low + high) / 2.0), (high - low) / 2.0
        count = POINTS
        for _ in range(ROUNDS):
            trials = np.clip(middle[:, None] + half * np.linspace(-1.0, 1.0, count), low, high)
            pair = (np.repeat(fixed, count), trials.ravel())
            losses = self.loss(np.exp(pair[parameter]), np.exp(pair[1 - parameter])).reshape(trials.shape)
            best = losses.argmin(axis=1)[:, None]
            middle = np.take_along_axis(trials, best, axis=1)[:, 0]
            half, count = half * 2.0 / (count - 1), NEAR
        return np.take_along_axis(losses, best, axis=1)[:, 0], middle


@dataclass(frozen=True, kw_only=True)
class Rates:
    """Time constant `tau` (days) and rates of `error`, `reports` and `invisible` changes, each as (value, low, high).

    An end of the interval of τ that the log does not bound is 0 or infinity; if it bounds neither end, the value is NaN.
    """

    tau: Estimate
    error: Estimate
    reports: Estimate
    invisible: Estimate

    @property
    def table(self) -> pl.DataFrame:
        """Table of the rates: error (share of wrong claims), reports (per object and day), invisible (share of changes)."""
        rows = (("error", self.error, "1"), ("reports", self.reports, "1/d"), ("invisible", self.invisible, "1"))
        return pl.DataFrame([(name, *ends, unit) for name, ends, unit in rows], schema=RATES, orient="row")


def rates(log: pl.DataFrame) -> Rates:
    """Estimate the rates of change, error and reporting from a log returned by `histories`.

    Rates of change and error are estimated together by a hidden Markov likelihood (`Chain`), with 95 % profile intervals.
    The rate of reports is claims per object and day, after the first claim, with the exact interval of a Poisson count. A
    change is invisible if another change precedes the next report, which has probability (1/τ) / (1/τ + reports).
    """
    reports, chain = _reports(log), Chain.of(log)
    if not (chain.gaps > 0.0).any():
        return Rates(tau=UNKNOWN, error=(np.nan, 0.0, 1.0), reports=reports, invisible=(np.nan, 0.0, 1.0))
    tau, error = (_estimate(chain, index) for index in (0, 1))
    if tau[1:] == UNKNOWN[1:]:
        tau = UNKNOWN
    slowest, fastest = 1.0 / (1.0 + tau[2] * reports[2]), 1.0 / (1.0 + tau[1] * reports[1])
    return Rates(tau=tau, error=error, reports=reports, invisible=(1.0 / (1.0 + tau[0] * reports[0]), slowest, fastest))


def _reports(log: pl.DataFrame) -> Estimate:
    objects = log.group_by("rep", "object").agg(
        claims=pl.len() + pl.col("restated").list.len().sum() - 1, days=pl.col("until").max() - pl.col("start").min()
    )
    count, days = float(objects["claims"].sum()), float(objects["days"].sum())
    if not days > 0.0:
        return UNKNOWN
    low, high = poisson(count)
    return count / days, low / days, high / days


def _estimate(chain: Chain, parameter: int) -> Estimate:
    """Return the maximum-likelihood estimate of τ (`parameter` 0) or ε (1) with its 95 % profile interval."""
    grid = np.linspace(*chain.bounds[parameter], GRID)
    losses = chain.profile(grid, parameter=parameter)[0]
    for _ in range(CLOSINGS[parameter]):
        finer = np.concatenate([np.linspace(grid[step], grid[step + 1], CLOSER)[1:-1] for step in _refined(losses)])
        grid, losses = np.append(grid, finer), np.append(losses, chain.profile(finer, parameter=parameter)[0])
        order = np.argsort(grid)
        grid, losses = grid[order], losses[order]
    allowed = losses.min() + CHI_SQUARE / 2.0
    inside = np.flatnonzero(losses <= allowed)
    first, last, best, top = int(inside[0]), int(inside[-1]), int(losses.argmin()), len(grid) - 1
    unbounded = np.inf if parameter == 0 else 1.0
    low = 0.0 if first == 0 else _crossing(grid, losses, first - 1, first, allowed)
    high = unbounded if last == top else _crossing(grid, losses, last + 1, last, allowed)
    value = 0.0 if best == 0 else unbounded if best == top else float(np.exp(grid[best]))
    return value, low, high


def _refined(losses: Array) -> list[int]:
    """Return the grid steps to refine: those next to the minimum, and those where the loss crosses the 95 % bound."""
    best, last = int(losses.argmin()), len(losses) - 2
    inside = losses <= losses[best] + CHI_SQUARE / 2.0
    crossings = np.flatnonzero(inside[:-1] != inside[1:])
    return sorted({min(max(step, 0), last) for step in (best - 1, best)} | set(crossings.tolist()))


def _crossing(grid: Array, losses: Array, out: int, inside: int, allowed: float) -> float:
    share = (allowed - losses[inside]) / (losses[out] - losses[inside])
    return float(np.exp(grid[inside] + share * (grid[out] - grid[inside])))
