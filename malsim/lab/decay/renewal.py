"""Semi-Markov likelihood of possibly wrong claims about truths whose lifetimes need not be exponential."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from malsim.lab.decay.rates import LEAST_ERROR

if TYPE_CHECKING:
    from malsim.lab.decay.rates import Chain
    from malsim.memory.graph.arrays import Array

SPREADS = np.array([-0.6, -0.3, 0.4, 0.8, 1.4, 2.1, 3.0])  # values of log c to try (c: squared coefficient of variation)
MOST_CELLS = 1_000_000
HALF = 0.5  # half-width of the first search grid around the starting point
ROUNDS, POINTS = 6, 3
FAR = 0.5  # the grids do not narrow if more than this share of them have their best point at an edge
SMALL = 1e-9


@dataclass(frozen=True, eq=False)
class Renewal:
    """Likelihood of a `Chain` for lifetimes with mean m and squared coefficient of variation c (c = 1: exponential).

    A lifetime has only two hidden phases, which keeps sums over all truths short. For c > 1 it is a mixture of a fast and a
    slow exponential with balanced means; for c < 1 it passes through one or two phases of equal rate. With exit rates s,
    initial phases α and rates S between phases, the equations for equal and for different values separate into two systems
    of two, S + s αᵀ and S − s αᵀ / (K − 1). At the first claim about an object the phase has its stationary distribution.
    Source: Tijms, A first course in stochastic models, 2003, appendix B.
    """

    chain: Chain

    def loss(self, points: Array) -> Array:
        """Return the negative log-likelihood at points (log m in days, log c, log ε), shape (P, 3)."""
        cells = len(self.chain.counts) * int(self.chain.choices.max()) * 2
        size = max(1, MOST_CELLS // cells)
        return np.concatenate([self._loss(points[at : at + size]) for at in range(0, len(points), size)])

    def _loss(self, points: Array) -> Array:
        chain, error = self.chain, np.exp(points[:, 2])[:, None]
        first, between = phases(np.exp(points[:, 0]), np.exp(points[:, 1]))
        exits = -between.sum(axis=2)  # shape (P, 2)
        k = chain.choices.astype(np.float64)
        renewed = exits[:, :, None] * first[:, None, :]
        together = between + renewed
        apart = between[:, None] - renewed[:, None] / (k - 1.0)[:, None, None]  # shape (P, n, 2, 2)
        most, count = int(chain.choices.max()), len(points)
        possible = np.arange(most) < k[:, None]
        times = np.linalg.solve(np.swapaxes(-between, 1, 2), first[:, :, None])[:, :, 0]  # mean time spent in each phase
        stationary = times / times.sum(axis=1, keepdims=True)
        belief = np.where(possible, 1.0 / k[:, None], 0.0)[None, :, :, None] * stationary[:, None, None, :]
        right, wrong = 1.0 - error, error / (k - 1.0)
        total = np.zeros(count)
        for turn in range(len(chain.gap)):
            n = int(np.searchsorted(-chain.counts, -turn))
            gap, value = chain.gap[turn, :n], chain.value[turn, :n]
            if gap.any():
                mean = belief[:, :n].sum(axis=2) / k[:n, None]  # shape (P, n, 2)
                both = _expm(together[:, None], gap)
                off = (belief[:, :n] - mean[:, :, None]) @ _expm(apart[:, :n], gap)
                belief = np.maximum((mean[:, :, None] @ both) + off, 0.0) * possible[:n, :, None]
            weight = np.where(np.arange(most) == value[:, None], right[:, :, None], wrong[:, :n, None])
            belief = belief[:, :n] * weight[..., None]
            chance = belief.sum(axis=(2, 3))
            total += np.log(np.maximum(chance, 1e-300)).sum(axis=1)
            belief = belief / np.maximum(chance, 1e-300)[:, :, None, None]
        return -total

    def profile(self, spreads: Array, *, tau: float, error: float) -> tuple[Array, Array]:
        """Return the minimum loss for each log c, and the log m at that minimum, both of shape (P,).

        The search starts at `tau` and `error`.
        """
        free, low, high = [0, 2], *(np.array(ends) for ends in zip(*self.chain.bounds, strict=True))
        middle = np.stack(np.broadcast_arrays(np.log(tau), spreads, np.log(max(error, LEAST_ERROR))), axis=1)
        half, steps = HALF, np.linspace(-1.0, 1.0, POINTS)
        grid = np.stack([axis.ravel() for axis in np.meshgrid(steps, steps)], axis=1)
        for _ in range(ROUNDS):
            trials = np.repeat(middle[:, None], len(grid), axis=1)
            trials[:, :, free] = np.clip(trials[:, :, free] + half * grid, low, high)
            losses = self.loss(trials.reshape(-1, 3)).reshape(len(spreads), -1)
            best = losses.argmin(axis=1)
            middle = trials[np.arange(len(spreads)), best]
            half = half if (np.abs(grid[best]) == 1.0).any(axis=1).mean() > FAR else half / 2.0
        return losses.min(axis=1), middle[:, 0]


def phases(mean: Array, spread: Array) -> tuple[Array, Array]:
    """Return initial phases α (P, 2) and rates between phases (P, 2, 2) for lifetimes with given means and spreads c.

    For c < 1, a share q of the lifetimes skips the second phase: (6 − 4q) / (2 − q)² = 1 + c, for c from 1/2 to 1.
    """
    fast = (1.0 + np.sqrt(np.maximum(spread - 1.0, 0.0) / (spread + 1.0))) / 2.0
    more = 1.0 + np.minimum(spread, 1.0)  # coefficient of r² in the equation more · r² − 4 r + 2 = 0, where r = 2 − q
    skip = 2.0 - (2.0 + np.sqrt(np.maximum(4.0 - 2.0 * more, 0.0))) / more
    over = spread >= 1.0
    first = np.where(over, fast, 1.0 - skip)
    rate = (2.0 - skip) / mean
    between = np.zeros((len(mean), 2, 2))
    between[:, 0, 0] = -np.where(over, 2.0 * fast / mean, rate)
    between[:, 1, 1] = -np.where(over, 2.0 * (1.0 - fast) / mean, rate)
    between[:, 0, 1] = np.where(over, 0.0, rate)
    return np.stack([first, 1.0 - first], axis=1), between


def _expm(rates: Array, days: Array) -> Array:
    """Return e^(M d) for 2 × 2 matrices M and days d of shape (n,), as an array of shape (…, n, 2, 2)."""
    half = (rates[..., 0, 0] + rates[..., 1, 1]) / 2.0
    root = np.sqrt(((rates[..., 0, 0] - rates[..., 1, 1]) / 2.0) ** 2 + rates[..., 0, 1] * rates[..., 1, 0] + 0j) + SMALL
    up, down = np.exp((half + root) * days), np.exp((half - root) * days)
    even, odd = ((up + down) / 2.0).real, ((up - down) / (2.0 * root)).real
    power: Array = even[..., None, None] * np.eye(2) + odd[..., None, None] * (rates - half[..., None, None] * np.eye(2))
    return power
