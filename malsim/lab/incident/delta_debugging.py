"""Reduction of a list to a smallest part that still passes a test: Zeller and Hildebrandt's ddmin, then pairs.

Source: Simplifying and isolating failure-inducing input, IEEE Transactions on Software Engineering 28(2), 2002.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PAIRS = 16  # the most rows of which pairs are tried


def smallest(rows: list[int], passes: Callable[[list[int]], bool]) -> list[int]:
    """Return a part of `rows`, in their order, that passes and from which no single row can be removed.

    From a part of at most 16 rows no pair can be removed either. `rows` themselves must pass.

    >>> smallest(list(range(100)), lambda part: {3, 70} <= set(part))
    [3, 70]
    """
    rows = _without_chunks(rows, passes)
    while len(rows) <= PAIRS:
        rest = ([row for row in rows if row not in pair] for pair in combinations(rows, 2))
        fewer = next((part for part in rest if part and passes(part)), None)
        if fewer is None:
            return rows
        rows = _without_chunks(fewer, passes)
    return rows


def _without_chunks(rows: list[int], passes: Callable[[list[int]], bool]) -> list[int]:
    """Remove halves, quarters and so on down to single rows, for as long as the rest passes."""
    size = max(1, len(rows) // 2)
    while True:
        start, removed = 0, False
        while start < len(rows):
            rest = rows[:start] + rows[start + size :]
            if rest and passes(rest):
                rows, removed = rest, True
            else:
                start += size
        if size == 1 and not removed:
            return rows
        size = max(1, min(size // 2, len(rows) // 2)) if size > 1 else 1
