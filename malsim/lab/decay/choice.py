"""Choice of a law by prediction: fit on the past, score the lifetimes that begin next, block by block."""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy.stats import CensoredData, ecdf

from malsim.base.intervals import ends, resamples
from malsim.lab.decay.likelihood import Likelihood
from malsim.sim.record.scoring import BINS, CLIPPED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from malsim.lab.decay.laws import Law
    from malsim.lab.decay.log import Log
    from malsim.memory.graph.arrays import Array, Bools

HORIZONS = 9
RESAMPLES = 500
SCARCE = 0.05
BLOCKS = 4
_ENDED = ("log_loss", "rmse_bins", "more")
SCORES = {
    "law": pl.String,
    **{f"{name}{end}": pl.Float64 for name in _ENDED for end in ("", "_low", "_high")},
    "aic": pl.Float64,
}


@dataclass(frozen=True, eq=False)
class Predictions:
    """A law on n later lifetimes: of each its surprise and weight (n,), and its gaps and weights by bin (n, bins)."""

    surprise: Array
    weight: Array
    gap: Array
    bin_weight: Array

    @classmethod
    def concat(cls, parts: Sequence[Predictions]) -> Predictions:
        """Return the lifetimes of several blocks."""
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
    """Return the surprise of "still true after h days" for each lifetime, and what RMSE over bins needs.

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
    if ended.all():
        return lambda t, before=False: np.ones(len(t))  # noqa: ARG005  # one shape for both
    curve = ecdf(CensoredData(uncensored=duration[~ended], right=duration[ended])).sf
    times, share = curve.quantiles, np.concatenate([[1.0], curve.probabilities])

    def at(t: Array, *, before: bool = False) -> Array:
        return np.asarray(share[np.searchsorted(times, t, side="left" if before else "right")])

    return at


def choose(laws: Sequence[Law], log: Log, *, share: float, floor: float | None, seed: int) -> pl.DataFrame:
    """Scores of the laws: log_loss, rmse_bins and aic; `more` is how much more log loss than the least, paired by lifetime.

    The later part of the lifetimes, in order of their beginnings, is cut into four blocks. For each block the laws are
    fitted on all lifetimes before it as they were known when it began. Where the interval of `more` holds 0 the two cannot
    be told apart. NaN where there are no later lifetimes, or nothing ended before them.
    """
    parts: dict[str, list[Predictions]] = {law.name: [] for law in laws}
    for begin, end in pairwise(np.linspace(share, 1.0, BLOCKS + 1)):
        early, late = log.split(float(begin), float(end))
        if not (early.ended.any() and early.duration.sum() > 0.0 and len(late)):
            continue
        horizons = np.unique(np.quantile(early.duration[early.ended], np.linspace(0.1, 0.9, HORIZONS)))
        for law in laws:
            log_tau, second = Likelihood.of(law, early, floor).best()
            survival = np.exp(law.log_survival(horizons, float(log_tau), float(second)))
            parts[law.name].append(predictions_of(survival, late, horizons))
    samples = {name: Predictions.concat(blocks).scores(seed) for name, blocks in parts.items() if blocks}
    samples = {name: (losses, errors) for name, (losses, errors) in samples.items() if losses[0] > 0.0}
    least = min((losses for losses, _ in samples.values()), key=lambda losses: float(losses[0]), default=None)
    rows = [(law.name, *_ends(samples.get(law.name), least), _aic(law, log, floor)) for law in laws]
    return pl.DataFrame(rows, schema=SCORES, orient="row")


def _ends(pair: tuple[Array, Array] | None, least: Array | None) -> tuple[float, ...]:
    if pair is None or least is None:
        return (np.nan,) * (3 * len(_ENDED))
    losses, errors = pair
    return tuple(each for samples in (losses, errors, losses - least) for each in (float(samples[0]), *ends(samples[1:])))


def _aic(law: Law, log: Log, floor: float | None) -> float:
    likelihood = Likelihood.of(law, log, floor)
    free = 1 if likelihood.floor is not None else 2
    return 2.0 * free + 2.0 * likelihood.loss(likelihood.best())
