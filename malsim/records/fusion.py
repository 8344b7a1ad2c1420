"""Retrieval scores: the hybrid score of memory records, and the rank fusion of overlay items.

    hybrid     = .5 sim + .2 fts + .2 recency + .1 utility        fts: 1 where words match, else 0
    utility    = clamp01(score)
    recency    = 2^(−age / 6 h),  .5 without a time                   as documented
               = e^(−age / 6 h)                                       as coded: its true half-life is 4.16 h
    coherent   = .5 seed + .3 link weight + .2 recency                for records linked from a seed

    fused      = .7 / (60 + rank of words) + .3 / (60 + rank of the vector)     ranks start at 1; 0: not found
    relevance  = (fused + bonus of the kind) · (1 + recency) · trust, the largest being 1;  + pin
    recency    = 2^(−age / half-life),  6 h for short and ephemeral items, 7 d for long ones
    next       = argmax λ · relevance − (1 − λ) · largest cosine with the items chosen so far; ties by order of creation

λ is .5 as documented (`Fusion()`), .72 in ARW's code (`Fusion(mmr=0.72)`). ARW names the boosts; malsim combines them.
Source: ARW's documentation, and its code where the two differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from malsim.base.finite import finite
from malsim.records.lanes import one_of

HALF_LIFE_H = 6.0
NO_TIME = 0.5
RECENCIES = ("half_life", "e_folding")
SIM, FTS, RECENCY, UTILITY = 0.5, 0.2, 0.2, 0.1
SEED, LINK, LINKED_RECENCY = 0.5, 0.3, 0.2
_HOUR = 3_600_000.0


def recency(age_ms: ArrayLike, form: str = "half_life", hours: float = HALF_LIFE_H) -> NDArray[np.float64]:
    """Return the recency of each age (ms), from 1 for now or the future down to 0; 0.5 if the age is NaN.

    >>> recency([0.0, 6 * 3_600_000.0, np.nan]).tolist()
    [1.0, 0.5, 0.5]
    >>> recency(4.158883083359672 * 3_600_000.0, "e_folding").round(6).tolist()
    0.5
    """
    ages = np.maximum(np.asarray(age_ms, float), 0.0) / (hours * _HOUR)
    shares = np.exp2(-ages) if one_of(form, RECENCIES, "recency") == "half_life" else np.exp(-ages)
    return np.asarray(np.where(np.isnan(ages), NO_TIME, shares))


def hybrid_scores(sim: ArrayLike, fts: ArrayLike, recent: ArrayLike, score: ArrayLike) -> NDArray[np.float64]:
    """Return the hybrid score of each record. A record without a score (NaN) has a utility of 0.

    >>> hybrid_scores([1.0], [1.0], [0.5], [7.0]).round(6).tolist()
    [0.9]
    """
    terms = SIM * np.asarray(sim, float) + FTS * np.asarray(fts, float) + RECENCY * np.asarray(recent, float)
    return np.asarray(terms + UTILITY * utility(score))


def utility(score: ArrayLike) -> NDArray[np.float64]:
    """Return each score clipped to [0, 1], with NaN replaced by 0."""
    return np.asarray(np.clip(np.nan_to_num(np.asarray(score, float), nan=0.0, posinf=1.0, neginf=0.0), 0.0, 1.0))


def coherent_scores(seed: ArrayLike, weight: ArrayLike, recent: ArrayLike) -> NDArray[np.float64]:
    """Compute a linked record's score from the score of the record that links to it, the link weight and the recency.

    >>> coherent_scores(0.8, 1.0, 0.5).round(6).tolist()
    0.8
    """
    weights = np.clip(np.asarray(weight, float), 0.0, 1.0)
    return np.asarray(SEED * np.asarray(seed, float) + LINK * weights + LINKED_RECENCY * np.asarray(recent, float))


@dataclass(frozen=True)
class Fusion:
    """Search settings: maximum numbers of candidates, weights of the two rankings, `k`, boosts, and λ (called `mmr`).

    Raises `UsageError` for a number out of bounds.
    """

    lexical_limit: int = 12
    vector_limit: int = 24
    lexical: float = 0.7
    vector: float = 0.3
    k: float = 60.0
    bonus: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({"summary": 0.05, "plan": 0.03}))
    mmr: float = 0.5
    short_half_life_h: float = 6.0
    long_half_life_h: float = 168.0
    pin: float = 2.0

    def __post_init__(self) -> None:
        finite(self.mmr, where="mmr", low=0.0, high=1.0)
        for name in ("lexical_limit", "vector_limit", "lexical", "vector", "k", "pin"):
            finite(getattr(self, name), where=name, low=0.0)
        for name in ("short_half_life_h", "long_half_life_h"):
            finite(getattr(self, name), where=name, low=1e-6)

    def half_life(self, durability: str) -> float:
        """Return the half-life of an item's recency for its durability, in hours."""
        return self.long_half_life_h if durability == "long" else self.short_half_life_h


def fused_ranks(lexical: ArrayLike, vector: ArrayLike, fusion: Fusion) -> NDArray[np.float64]:
    """Return the weighted reciprocal rank fusion of two rankings. A rank of 0 (not found) contributes nothing.

    >>> fused_ranks([1, 0], [2, 1], Fusion()).round(6).tolist()
    [0.016314, 0.004918]
    """
    terms = [
        np.where(np.asarray(ranks) > 0, weight / (fusion.k + np.asarray(ranks, float)), 0.0)
        for ranks, weight in ((lexical, fusion.lexical), (vector, fusion.vector))
    ]
    return np.asarray(terms[0] + terms[1])


def relevance(
    fused: NDArray[np.float64], kinds: Sequence[str], recent: ArrayLike, trust: ArrayLike, pinned: ArrayLike, fusion: Fusion
) -> NDArray[np.float64]:
    """Return each item's relevance in [0, 1] before diversification, plus the bonus `pin` for pinned items."""
    bonus = np.array([fusion.bonus.get(kind, 0.0) for kind in kinds])
    boosted = (fused + bonus) * (1.0 + np.asarray(recent, float)) * np.asarray(trust, float)
    largest = boosted.max(initial=0.0)
    return np.asarray((boosted / largest if largest > 0.0 else boosted) + fusion.pin * np.asarray(pinned, float))


def recencies(ages_ms: Sequence[float], durabilities: Sequence[str], fusion: Fusion) -> NDArray[np.float64]:
    """Return the recency of each item, computed with the half-life for its durability.

    >>> recencies([6 * 3_600_000.0, 7 * 86_400_000.0], ["short", "long"], Fusion()).tolist()
    [0.5, 0.5]
    """
    pairs = zip(ages_ms, durabilities, strict=True)
    return np.array([float(recency(age, hours=fusion.half_life(durability))) for age, durability in pairs])


def diverse_order(
    worth: NDArray[np.float64], cosines: NDArray[np.float64], mmr: float
) -> tuple[list[int], NDArray[np.float64], NDArray[np.float64]]:
    """Order items by maximal marginal relevance. The items must be given in order of creation, which breaks ties.

    `cosines` has the shape (n, n). Returns the order of choice, each item's score, and its largest cosine with an
    earlier choice. Scores never rise along the order.

    >>> same = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> order, scores, near = diverse_order(np.array([1.0, 0.9, 0.5]), same, 0.5)
    >>> order, scores.round(3).tolist(), near.tolist()
    ([0, 2, 1], [0.5, -0.05, 0.25], [0.0, 1.0, 0.0])
    """
    count = len(worth)
    near, score, waiting = np.zeros(count), np.zeros(count), np.ones(count, bool)
    order: list[int] = []
    for _ in range(count):
        marginal = np.where(waiting, mmr * worth - (1.0 - mmr) * near, -np.inf)
        pick = int(np.argmax(marginal))
        score[pick], waiting[pick] = marginal[pick], False
        order.append(pick)
        near = np.where(waiting, np.maximum(near, cosines[pick]), near)
    return order, score, near
