"""A truth that changes, seen through writers who err: a hidden Markov likelihood of who said what, when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Array, Ints

LEAST_ERROR = 1e-6
MOST_ERROR = 0.95  # of (K − 1)/K, where a claim says nothing
MOST_CELLS = 2_000_000
SHORT, LONG = 0.05, 50.0  # of the shortest gap, of all gaps
POINTS, NEAR, ROUNDS = 9, 5, 5


@dataclass(frozen=True, eq=False)
class Chain:
    """Claims about n objects, the k-th of each in row k: days since the one before, the place of the value said.

    Shapes (T, n), objects with more claims first; `counts` is how many each has, `choices` its number of values, at least 2.

    The truth leaves its value at rate 1/τ, to each of the K − 1 others alike, so that after d days it is the same with
    P(d) = 1/K + (1 − 1/K) e^(−dK/((K − 1)τ)), left and come back allowed for. A claim says the truth with 1 − ε, else one of
    the others. The likelihood sums over all truths (the forward recursion).
    """

    gap: Array
    value: Ints
    counts: Ints
    choices: Ints

    @classmethod
    def of(cls, log: pl.DataFrame) -> Chain:
        """Return the claims in a log of `histories`."""
        stretches = log.select(
            key=pl.struct("rep", "object").rank("dense").cast(pl.Int64) - 1,
            said=pl.col("value").rank("dense").over("rep", "object").cast(pl.Int64) - 1,
            start="start",
            days=pl.concat_list(pl.lit([0.0]), "restated"),
        ).sort("key", "start", maintain_order=True)
        claims = stretches.with_row_index("row").explode("days")
        claims = claims.with_columns(t=pl.col("start") + pl.col("days").cum_sum().over("row"))
        key, value, t = (claims[name].to_numpy() for name in ("key", "said", "t"))
        counts = np.bincount(key)
        order = np.argsort(-counts, kind="stable")
        seat = np.empty_like(order)
        seat[order] = np.arange(len(order))
        begins = np.cumsum(counts) - counts
        place = np.arange(len(key)) - begins[key]
        shape = (int(counts.max()), len(counts))
        gap, values = np.zeros(shape), np.zeros(shape, dtype=np.int64)
        gap[place, seat[key]] = np.where(place > 0, np.diff(t, prepend=0.0), 0.0)
        values[place, seat[key]] = value
        choices = np.maximum(2, np.maximum.reduceat(value, begins) + 1)
        return cls(gap, values, counts[order], choices[order])

    @property
    def gaps(self) -> Array:
        """The days between one claim and the next about the same object, where there are any."""
        inside = np.arange(1, len(self.gap))[:, None] < self.counts
        return self.gap[1:][inside]

    @property
    def bounds(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Search bounds of log τ and log ε; beyond them the log cannot tell τ from 0 or infinity."""
        gaps = self.gaps[self.gaps > 0.0]
        most = MOST_ERROR * float((1.0 - 1.0 / self.choices).min())
        return (np.log(SHORT * gaps.min()), np.log(LONG * gaps.sum())), (np.log(LEAST_ERROR), np.log(most))

    def loss(self, tau: Array, error: Array) -> Array:
        """Minus the log-likelihood at points (τ in days, ε), both of shape (P,)."""
        size = max(1, MOST_CELLS // (len(self.counts) * int(self.choices.max())))
        parts = range(0, len(tau), size)
        return np.concatenate([self._loss(tau[at : at + size], error[at : at + size]) for at in parts])

    def _loss(self, tau: Array, error: Array) -> Array:
        k = self.choices.astype(np.float64)
        most, points = int(self.choices.max()), len(tau)
        even = np.where(np.arange(most) < k[:, None], 1.0 / k[:, None], 0.0)  # (n, K)
        speed = -(k / (k - 1.0)) / tau[:, None]  # (P, n)
        right, wrong = (1.0 - error)[:, None], error[:, None] / (k - 1.0)
        belief = np.tile(even, (points, 1, 1))  # (P, n, K)
        total = np.zeros(points)
        for turn in range(len(self.gap)):
            n = int(np.searchsorted(-self.counts, -turn))  # objects with a claim of this number come first
            same = np.exp(speed[:, :n] * self.gap[turn, :n])[:, :, None]
            belief = belief[:, :n] * same + (1.0 - same) * even[:n]
            place = np.arange(n) * most + self.value[turn, :n]
            own = belief.reshape(points, -1)[:, place]  # of the value said
            chance = own * right + (1.0 - own) * wrong[:, :n]
            total += np.log(chance).sum(axis=1)
            belief *= (wrong[:, :n] / chance)[:, :, None]
            belief.reshape(points, -1)[:, place] = own * right / chance
        return -total

    def profile(self, fixed: Array, *, place: int) -> tuple[Array, Array]:
        """Return the least loss over one of (log τ, log ε) for each value of the one at `place`, and the other there.

        The other is looked for on a grid that closes in.
        """
        low, high = self.bounds[1 - place]
        middle, half = np.full(len(fixed), (low + high) / 2.0), (high - low) / 2.0
        count = POINTS
        for _ in range(ROUNDS):
            trials = np.clip(middle[:, None] + half * np.linspace(-1.0, 1.0, count), low, high)
            pair = (np.repeat(fixed, count), trials.ravel())
            losses = self.loss(np.exp(pair[place]), np.exp(pair[1 - place])).reshape(trials.shape)
            best = losses.argmin(axis=1)[:, None]
            middle = np.take_along_axis(trials, best, axis=1)[:, 0]
            half, count = half * 2.0 / (count - 1), NEAR
        return np.take_along_axis(losses, best, axis=1)[:, 0], middle
