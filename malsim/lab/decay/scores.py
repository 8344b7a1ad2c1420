"""How well a law of survival predicts later lifetimes: log loss and RMSE over bins, with those not yet known weighed in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import CensoredData, ecdf

from malsim.intervals import resamples
from malsim.sim.record.scoring import BINS, CLIPPED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from malsim.lab.decay.log import Log
    from malsim.memory.graph.arrays import Array, Bools

__all__ = ["HORIZONS", "Predicted", "predicted"]

HORIZONS = 9
RESAMPLES = 500
SCARCE = 0.05


@dataclass(frozen=True, eq=False)
class Predicted:
    """A law on n later lifetimes: of each its surprise and weight (n,), and its gaps and weights by bin (n, bins)."""

    surprise: Array
    weight: Array
    gap: Array
    held: Array

    @classmethod
    def joined(cls, parts: Sequence[Predicted]) -> Predicted:
        """The lifetimes of several blocks."""
        return cls(
            *(np.concatenate([getattr(part, name) for part in parts]) for name in ("surprise", "weight", "gap", "held"))
        )

    def scores(self, seed: int) -> tuple[Array, Array]:
        """Log loss and RMSE over bins, of these lifetimes and of each bootstrap resample (the same for every law)."""
        count = len(self.weight)
        chosen = np.concatenate([np.ones((1, count)), resamples(count, RESAMPLES, seed=seed)])
        total = np.maximum(chosen @ self.weight, CLIPPED)
        squares = (chosen @ self.gap) ** 2 / np.maximum(chosen @ self.held, CLIPPED)
        return chosen @ self.surprise / total, np.sqrt(squares.sum(axis=1) / total)


def predicted(said: Array, log: Log, horizons: Array) -> Predicted:
    """The surprise of "still true after h days" for each lifetime, and what RMSE over bins needs.

    `said` is the survival a law gives to each of the `horizons`, both of shape (h,).

    A lifetime last seen before h is unknown at h; those known stand in for it, each weighed by 1 / P(not yet lost from
    sight), of which P is the Kaplan-Meier estimate of the time to censoring (Graf and others, 1999). Horizons at which less
    than 5 % would still be in sight are left out, as is a lifetime at a horizon between its last claim and the one that
    ended it.
    """
    ended, gone = log.ended, np.where(log.ended, log.before, log.after)
    in_sight = _in_sight(gone, ended)
    near = in_sight(horizons) >= SCARCE
    kept = horizons[near]
    alive, over = log.after[:, None] > kept, (log.before[:, None] <= kept) & ended[:, None]
    seen = np.where(alive, in_sight(kept)[None, :], in_sight(gone, before=True)[:, None])
    weight = np.where(alive | over, 1.0 / np.maximum(seen, SCARCE), 0.0)
    chance = np.clip(said[near], CLIPPED, 1.0 - CLIPPED)
    surprise = (weight * -np.log(np.where(alive, chance, 1.0 - chance))).sum(axis=1)
    inside = np.eye(BINS)[np.minimum((chance * BINS).astype(np.int64), BINS - 1)]
    return Predicted(surprise, weight.sum(axis=1), (weight * (alive - chance)) @ inside, weight @ inside)


def _in_sight(duration: Array, ended: Bools) -> Callable[..., Array]:
    """The share of lifetimes not yet censored at a time (or just before it)."""
    if ended.all():
        return lambda t, before=False: np.ones(len(t))  # noqa: ARG005  # one shape for both
    found = ecdf(CensoredData(uncensored=duration[~ended], right=duration[ended])).sf
    times, share = found.quantiles, np.concatenate([[1.0], found.probabilities])

    def at(t: Array, *, before: bool = False) -> Array:
        return np.asarray(share[np.searchsorted(times, t, side="left" if before else "right")])

    return at
