"""Ranking of the cells in a push, for one memory or for many replications at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.graph.edge_matrix import nan_to_zero
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.memory.rules import Rules


def rank_score(
    lexical: Array, degree: Array, effective: Array, age: Array, rules: Rules, *, reference: Bools | None = None,
    row: Ints | None = None,
) -> Array:  # fmt: skip
    """Compute the score by which a push ranks its candidates.

    score = rank_lexical · lexical/best + rank_degree · log(1 + degree)/log(1 + most) + rank_effective · effective
    + rank_recency · exp(−age/rank_recency_tau), where best and most are the maxima of the candidate's row

    All arrays have one entry per candidate. `row` is the row of a table to which each candidate belongs, grouped; by default
    there is one row. `lexical` ≥ 0 is a match score (BM25, or the number of matching topics), `degree` ≥ 0 a number of
    edges, `age` in days; an absent effective or age (NaN) adds 0. For a `reference` (kind ref) the match is multiplied by
    rank_reference. Source: the reference's fusion; a wrong sign in its code discards the match.
    """
    if not lexical.size:
        return np.zeros(0)
    breaks = np.flatnonzero(row[1:] != row[:-1]) + 1 if row is not None else np.zeros(0, dtype=np.int64)
    edges = np.concatenate([[0], breaks, [len(lexical)]])
    starts, counts, hub = edges[:-1], edges[1:] - edges[:-1], np.log1p(degree)
    match = lexical / _best(lexical, starts, counts)
    if reference is not None:
        match = np.where(reference, rules.rank_reference * match, match)
    score: Array = rules.rank_lexical * match + rules.rank_degree * hub / _best(hub, starts, counts)
    recency = np.exp(-np.maximum(age, 0.0) / rules.rank_recency_tau)
    score += rules.rank_effective * nan_to_zero(effective) + rules.rank_recency * nan_to_zero(recency)
    return score


def top_k(score: Array, touched: Array, *, limit: int) -> Ints:
    """Return the column indices of the `limit` best candidates in each row, best first. NONE pads short rows.

    Among equal scores the later touched candidate comes first, then the earlier column; a score of −inf is not a candidate.

    >>> top_k(np.array([[0.1, 0.9], [0.5, -np.inf]]), np.zeros((2, 2)), limit=2).tolist()
    [[1, 0], [0, -1]]
    """
    best = np.full((len(score), limit), NONE, dtype=np.int64)
    if not score.size:
        return best
    order = np.argsort(-score, axis=1, kind="stable")
    top = order[:, : limit + 1].T.copy()  # transposed, because numpy compares a few long rows faster than many short rows
    fall = score.take(top + np.arange(0, score.size, score.shape[1]))
    real = fall > -np.inf
    same = (fall[1:] == fall[:-1]) & real[1:]
    if same.any():
        ties = np.flatnonzero(same.any(axis=0))
        top[:, ties] = np.lexsort((-touched[ties], -score[ties]), axis=-1)[:, : limit + 1].T
    best[:, : len(top)] = np.where(real, top, NONE)[:limit].T
    return best


def _best(value: Array, starts: Ints, counts: Ints) -> Array:
    best = np.maximum.reduceat(value, starts)
    return np.repeat(np.where(best > 0.0, best, 1.0), counts)


def marked(
    rules: Rules, *, stated: Array, effective: Array, currency: Array, superseded: Bools, contradicted: Bools,
    overdue: Bools, requires_review: Bools,
) -> Bools:  # fmt: skip
    """Return a mask of the lines to mark with `^`: superseded, challenged and stale cells, or cells flagged for review.

    challenged: effective < challenged_below · stated, or an active incoming contradiction (`contradicted`);
    stale: currency < stale_below, or past the reverify date (`overdue`). All arrays have one entry per line. Source: the
    published design; for the review rule, the reference.
    """
    if rules.expand_when == "review":
        return requires_review
    challenged = effective < rules.challenged_below * stated
    return superseded | contradicted | overdue | challenged | (currency < rules.stale_below)
