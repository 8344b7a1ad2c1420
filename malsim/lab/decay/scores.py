"""How well a law of survival predicts later lifetimes: log loss and RMSE over bins, with those not yet known weighed in."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import CensoredData, ecdf

from malsim.intervals import resamples
from malsim.sim.record.scoring import BINS, CLIPPED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from malsim.lab.decay.log import Log
    from malsim.memory.graph.arrays import Array, Bools

__all__ = ["HORIZONS", "Predictions", "predictions_of"]

HORIZONS = 9
RESAMPLES = 500
SCARCE = 0.05


@dataclass(frozen=True, eq=False)
class Predictions:
    """A law on n later lifetimes: of each its surprise and weight (n,), and its gaps and weights by bin (n, bins)."""

    surprise: Array
    weight: Array
    gap: Array
    bin_weight: Array

    @classmethod
    def concat(cls, parts: Sequence[Predictions]) -> Predictions:
        """The lifetimes of several blocks."""
        columns = ([getattr(part, each.name) for part in parts] for each in fields(cls))
        return cls(*map(np.concatenate, columns))

    def scores(self, seed: int) -> tuple[Array, Array]:
        """Log loss and RMSE over bins, of these lifetimes and of each bootstrap resample (the same for every law)."""
        count = len(self.weight)
        sample = np.concatenate([np.ones((1, count)), resamples(count, RESAMPLES, seed=seed)])
        total = np.maximum(sample @ self.weight, CLIPPED)
        squares = (sample @ self.gap) ** 2 / np.maximum(sample @ self.bin_weight, CLIPPED)
        return sample @ self.surprise / total, np.sqrt(squares.sum(axis=1) / total)


def predictions_of(survival: Array, log: Log, horizons: Array) -> Predictions:
    """The surprise of "still true after h days" for each lifetime, and what RMSE over bins needs.

    `survival` is what a law gives to each of the `horizons`, both of shape (h,).

    A lifetime last seen before h is unknown at h; those known stand in for it, each weighed by 1 / P(not yet lost from
    sight), of which P is the Kaplan-Meier estimate of the time to censoring (Graf and others, 1999). Horizons at which less
    than 5 % would still be in sight are left out, as is a lifetime at a horizon between its last claim and the one that
    ended it.
    """
    ended, end = log.ended, np.where(log.ended, log.before, log.after)
    in_sight = _in_sight(end, ended)
    near = in_sight(horizons) >= SCARCE
    horizons, chance = horizons[near], np.clip(survival[near], CLIPPED, 1.0 - CLIPPED)
    alive, over = log.after[:, None] > horizons, (log.before[:, None] <= horizons) & ended[:, None]
    sight = np.where(alive, in_sight(horizons)[None, :], in_sight(end, before=True)[:, None])
    weight = np.where(alive | over, 1.0 / np.maximum(sight, SCARCE), 0.0)
    surprise = (weight * -np.log(np.where(alive, chance, 1.0 - chance))).sum(axis=1)
    inside = np.eye(BINS)[np.minimum((chance * BINS).astype(np.int64), BINS - 1)]
    return Predictions(surprise, weight.sum(axis=1), (weight * (alive - chance)) @ inside, weight @ inside)


def _in_sight(duration: Array, ended: Bools) -> Callable[..., Array]:
    """The share of lifetimes not yet censored at a time (or just before it)."""
    if ended.all():
        return lambda t, before=False: np.ones(len(t))  # noqa: ARG005  # one shape for both
    curve = ecdf(CensoredData(uncensored=duration[~ended], right=duration[ended])).sf
    times, share = curve.quantiles, np.concatenate([[1.0], curve.probabilities])

    def at(t: Array, *, before: bool = False) -> Array:
        return np.asarray(share[np.searchsorted(times, t, side="left" if before else "right")])

    return at
