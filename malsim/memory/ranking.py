"""The order in which cells are pushed: one law for a saved store and for a thousand replications at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from malsim.memory.rules import Rules

__all__ = ["foremost", "fused"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


def fused(
    lexical: Array,
    degree: Array,
    effective: Array,
    age: Array,
    rules: Rules,
    *,
    reference: NDArray[np.bool_] | None = None,
    rep: Ints | None = None,
) -> Array:
    """How much each candidate deserves a line.

    score = rank_lexical · lexical/best + rank_degree · log(1 + degree)/log(1 + most) + rank_effective · effective
    + rank_recency · exp(−age/rank_recency_tau), best and most being the largest of the candidate's replication

    All arrays have one row a candidate: `lexical` ≥ 0 is any match score (BM25's size, or the number of topics that
    match), `degree` ≥ 0 a count of edges, `age` in days, `rep` the replication from 0. Of a `reference` (kind ref) only the
    share rank_reference of its match counts. Source: the reference's fusion, whose own code loses the match to a sign.

    >>> from malsim.memory.rules import Rules
    >>> none = np.zeros(2)
    >>> fused(np.array([4.0, 2.0]), np.array([0.0, 3.0]), np.array([0.4, 0.8]), none, Rules()).round(2).tolist()
    [1.16, 0.97]
    """
    rep = np.zeros(len(lexical), dtype=np.int64) if rep is None else rep
    match = lexical / _best(lexical, rep)
    if reference is not None:
        match = np.where(reference, rules.rank_reference * match, match)
    hub = np.log1p(degree)
    score: Array = rules.rank_lexical * match + rules.rank_degree * hub / _best(hub, rep)
    score += rules.rank_effective * effective + rules.rank_recency * np.exp(-np.maximum(age, 0.0) / rules.rank_recency_tau)
    return score


def foremost(score: Array, touched: Array, *, limit: int, rep: Ints | None = None) -> Ints:
    """Rows of the `limit` best candidates of every replication, best first, replication by replication.

    Of two equal scores the later touched stands first, then the earlier row.

    >>> foremost(np.array([0.1, 0.9, 0.5, 0.7]), np.zeros(4), limit=1, rep=np.array([0, 0, 1, 1])).tolist()
    [1, 3]
    """
    rep = np.zeros(len(score), dtype=np.int64) if rep is None else rep
    fair = _fair(score, rep, limit)
    order = fair[np.lexsort((-touched[fair], -score[fair], rep[fair]))]
    start = np.searchsorted(rep[order], rep[order], side="left")
    return order[np.arange(len(order)) - start < limit]


def _fair(score: Array, rep: Ints, limit: int) -> Ints:
    """The rows that no `limit` others of their replication outscore; all of them where replications do not lie together."""
    count = np.bincount(rep)
    widest = int(count.max(initial=0))
    if widest <= limit or widest * len(count) > SPARSE * len(score) or (rep[1:] < rep[:-1]).any():
        return np.arange(len(score))
    place = np.arange(len(rep)) - (np.cumsum(count) - count)[rep]
    table = np.full((len(count), widest), np.inf)
    table[rep, place] = -score
    least = np.partition(table, limit - 1, axis=1)[:, limit - 1]
    return np.flatnonzero(~(-score > least[rep]))


SPARSE = 4  # a table is worth its room up to so many places a row


def _best(value: Array, rep: Ints) -> Array:
    """The largest value of each row's replication, 1 where that is 0."""
    best = np.zeros(int(rep.max(initial=0)) + 1)
    np.maximum.at(best, rep, value)
    return np.where(best > 0.0, best, 1.0)[rep]
