"""How well a record answers, in the first form: likeness, a hit of words, recency and utility, in columns.

    hybrid    = .5 sim + .2 fts + .2 recency + .1 utility        fts: 1 where words hit, else 0
    utility   = clamp01(score)
    recency   = 2^(−age / 6 h),  .5 without a time                   as documented
              = e^(−age / 6 h)                                       as coded: its true half-life is 4.16 h
    coherent  = .5 seed + .3 link weight + .2 recency                of what a seed links to

Source: ARW's documentation, and its code where the two differ.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from malsim.records.lanes import one_of

HALF_LIFE_H = 6.0
NO_TIME = 0.5
RECENCIES = ("half_life", "e_folding")
SIM, FTS, RECENCY, UTILITY = 0.5, 0.2, 0.2, 0.1
SEED, LINK, LINKED_RECENCY = 0.5, 0.3, 0.2
_HOUR = 3_600_000.0


def recency(age_ms: ArrayLike, form: str = "half_life", hours: float = HALF_LIFE_H) -> NDArray[np.float64]:
    """From 1 (now, or in the future) to 0; .5 where the age is NaN.

    >>> recency([0.0, 6 * 3_600_000.0, np.nan]).tolist()
    [1.0, 0.5, 0.5]
    >>> recency(4.158883083359672 * 3_600_000.0, "e_folding").round(6).tolist()
    0.5
    """
    ages = np.maximum(np.asarray(age_ms, float), 0.0) / (hours * _HOUR)
    shares = np.exp2(-ages) if one_of(form, RECENCIES, "recency") == "half_life" else np.exp(-ages)
    return np.asarray(np.where(np.isnan(ages), NO_TIME, shares))


def hybrid_scores(sim: ArrayLike, fts: ArrayLike, recent: ArrayLike, score: ArrayLike) -> NDArray[np.float64]:
    """The weighted sum; a record without a score (NaN) has utility 0.

    >>> hybrid_scores([1.0], [1.0], [0.5], [7.0]).round(6).tolist()
    [0.9]
    """
    terms = SIM * np.asarray(sim, float) + FTS * np.asarray(fts, float) + RECENCY * np.asarray(recent, float)
    return np.asarray(terms + UTILITY * utility(score))


def utility(score: ArrayLike) -> NDArray[np.float64]:
    """A score within 0 and 1; 0 for none."""
    return np.asarray(np.clip(np.nan_to_num(np.asarray(score, float), nan=0.0, posinf=1.0, neginf=0.0), 0.0, 1.0))


def coherent_scores(seed: ArrayLike, weight: ArrayLike, recent: ArrayLike) -> NDArray[np.float64]:
    """What a linked record scores by way of its seed.

    >>> coherent_scores(0.8, 1.0, 0.5).round(6).tolist()
    0.8
    """
    weights = np.clip(np.asarray(weight, float), 0.0, 1.0)
    return np.asarray(SEED * np.asarray(seed, float) + LINK * weights + LINKED_RECENCY * np.asarray(recent, float))
