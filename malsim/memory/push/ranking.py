"""Order in which cells are pushed, the same for a stored memory and for a thousand replications at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.graph.edge_matrix import nan_to_zero
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.memory.rules import Rules


def rank_score(
    lexical: Array,
    degree: Array,
    effective: Array,
    age: Array,
    rules: Rules,
    *,
    reference: Bools | None = None,
    row: Ints | None = None,
) -> Array:
    """Compute the rank of each candidate; the cells with the highest ranks are shown.

    score = rank_lexical · lexical/best + rank_degree · log(1 + degree)/log(1 + most) + rank_effective · effective
    + rank_recency · exp(−age/rank_recency_tau), best and most being the largest of the candidate's row

    All arrays have one entry a candidate; `row` says in which row of a table each stands, those of one together; without it
    all are of one. `lexical` ≥ 0 is any match score (BM25's size, or the number of topics that match), `degree` ≥ 0 a count
    of edges, `age` in days; an absent effective or age (NaN) adds nothing. Of a `reference` (kind ref) only the share
    rank_reference of its match counts. Source: the reference's fusion, whose own code loses the match to a sign.

    >>> from malsim.memory.rules import Rules
    >>> none = np.zeros(2)
    >>> rank_score(np.array([4.0, 2.0]), np.array([0.0, 3.0]), np.array([0.4, 0.8]), none, Rules()).round(2).tolist()
    [1.16, 0.97]
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
    """Return the indices of the `limit` best candidates in each row of a table, best first; NONE pads short rows.

    Of two equal scores the later touched stands first, then the earlier place; a score of −inf is no candidate's.

    >>> top_k(np.array([[0.1, 0.9], [0.5, -np.inf]]), np.zeros((2, 2)), limit=2).tolist()
    [[1, 0], [0, -1]]
    """
    best = np.full((len(score), limit), NONE, dtype=np.int64)
    if not score.size:
        return best
    order = np.argsort(-score, axis=1, kind="stable")
    top = order[:, : limit + 1].T.copy()  # few long rows are compared faster than many short ones
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
    rules: Rules,
    *,
    stated: Array,
    effective: Array,
    currency: Array,
    superseded: Bools,
    contradicted: Bools,
    overdue: Bools,
    requires_review: Bools,
) -> Bools:
    """Return a mask of rows that are superseded but cited, challenged or stale; with `expand_when` review, also flagged.

    challenged: effective < challenged_below · stated, or an active incoming contradiction (`contradicted`);
    stale: currency < stale_below, or past its reverify date (`overdue`). All arrays have one row a line. Source: the
    published design; of the review rule the reference.

    >>> import numpy as np
    >>> from malsim.memory.rules import Rules
    >>> no = np.zeros(3, dtype=bool)
    >>> marked(Rules(), stated=np.full(3, 0.8), effective=np.array([0.8, 0.39, 0.8]), currency=np.array([1.0, 1.0, 0.2]),
    ...        superseded=no, contradicted=no, overdue=no, requires_review=no).tolist()
    [False, True, True]
    """
    if rules.expand_when == "review":
        return requires_review
    challenged = effective < rules.challenged_below * stated
    return superseded | contradicted | overdue | challenged | (currency < rules.stale_below)
