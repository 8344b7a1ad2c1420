"""Which law predicts best: each fitted on what was known, scored on the lifetimes that began next, block by block."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.intervals import ends
from malsim.lab.decay.likelihood import Likelihood
from malsim.lab.decay.scores import HORIZONS, Predictions, predictions_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.lab.decay.laws import Law
    from malsim.lab.decay.log import Log
    from malsim.memory.graph.arrays import Array

__all__ = ["SCORES", "choose"]

BLOCKS = 4
_ENDED = ("log_loss", "rmse_bins", "more")
SCORES = {
    "law": pl.String,
    **{f"{name}{end}": pl.Float64 for name in _ENDED for end in ("", "_low", "_high")},
    "aic": pl.Float64,
}


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
