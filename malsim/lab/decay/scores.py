"""How well a law of survival foretells later claims: log loss and RMSE over bins, with those not yet known weighed in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import CensoredData, ecdf

from malsim.sim.scoring import BINS, CLIPPED

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from malsim.lab.decay.laws import Array

__all__ = ["HORIZONS", "foretold", "kaplan_meier"]

HORIZONS = 9
RESAMPLES = 500
SCARCE = 0.05


def kaplan_meier(duration: Array, ended: NDArray[np.bool_]) -> tuple[Array, Array, Array, Array]:
    """The share still standing as observed, with its 95 % interval (log-log, Greenwood): times, share, low, high."""
    found = ecdf(CensoredData(uncensored=duration[ended], right=duration[~ended])).sf
    with np.errstate(divide="ignore", invalid="ignore"):
        ends: Any = found.confidence_interval(method="log-log")
    low, high = np.nan_to_num(ends.low.probabilities, nan=0.0), np.nan_to_num(ends.high.probabilities, nan=1.0)
    return found.quantiles, found.probabilities, low, high


def foretold(
    said: Array,
    duration: Array,
    ended: NDArray[np.bool_],
    horizons: Array,
    draws: np.random.Generator,
) -> tuple[float, float, float, float, float, float]:
    """Log loss and RMSE(bins) of "still true after h days", each with its 95 % bootstrap interval over claims.

    `said` is the survival a law gives to each of the `horizons`, both of shape (h,); `duration` and `ended` are the claims'.

    A claim last seen before h is unknown at h; those known stand in for it, each weighed by 1 / P(not yet lost from sight),
    of which P is the Kaplan-Meier estimate of the time to censoring (Graf and others, 1999). Horizons at which less than
    5 % would still be in sight are left out.
    """
    in_sight = _in_sight(duration, ended)
    near = in_sight(horizons) >= SCARCE
    kept = horizons[near]
    alive, over = duration[:, None] > kept, (duration[:, None] <= kept) & ended[:, None]
    seen = np.where(alive, in_sight(kept)[None, :], in_sight(duration, before=True)[:, None])
    weight = np.where(alive | over, 1.0 / np.maximum(seen, SCARCE), 0.0)
    if not weight.sum() > 0.0:
        return (np.nan,) * 6
    chance = np.clip(said[near], CLIPPED, 1.0 - CLIPPED)
    surprise = (weight * -np.log(np.where(alive, chance, 1.0 - chance))).sum(axis=1)
    inside = np.eye(BINS)[np.minimum((chance * BINS).astype(np.int64), BINS - 1)]
    gaps, held = (weight * (alive - chance)) @ inside, weight @ inside
    count = len(duration)
    chosen = np.concatenate([np.ones((1, count)), draws.multinomial(count, np.full(count, 1 / count), size=RESAMPLES)])
    total = np.maximum(chosen @ weight.sum(axis=1), CLIPPED)
    losses = chosen @ surprise / total
    squares = (chosen @ gaps) ** 2 / np.maximum(chosen @ held, CLIPPED)
    errors = np.sqrt(squares.sum(axis=1) / total)
    (low, high), (least, most) = (np.quantile(each[1:], [0.025, 0.975]) for each in (losses, errors))
    return float(losses[0]), float(low), float(high), float(errors[0]), float(least), float(most)


def _in_sight(duration: Array, ended: NDArray[np.bool_]) -> Callable[..., Array]:
    """The share of claims not yet censored at a time (or just before it)."""
    if ended.all():
        return lambda t, before=False: np.ones(len(t))  # noqa: ARG005  # one shape for both
    found = ecdf(CensoredData(uncensored=duration[~ended], right=duration[ended])).sf
    times, share = found.quantiles, np.concatenate([[1.0], found.probabilities])

    def at(t: Array, *, before: bool = False) -> Array:
        return np.asarray(share[np.searchsorted(times, t, side="left" if before else "right")])

    return at
