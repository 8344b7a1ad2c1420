"""The mark `^` of a mini-index: lines that a reader must open before relying on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Array, Bools
    from malsim.memory.rules import Rules


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
