"""Sentences about rows."""

from __future__ import annotations

import polars as pl

__all__ = ["worded"]


def worded(text: str, *columns: str | pl.Expr) -> pl.Expr:
    """A text with a column's value in place of each {}; null where one of them is.

    Stands in for `polars.format`, which panics on columns whose first chunk is empty (polars 2.1).

    >>> pl.DataFrame({"place": [2]}).select(worded("edges[{}].target", "place")).item()
    'edges[2].target'
    """
    first, *rest = text.split("{}")
    parts = [pl.lit(first)]
    for column, after in zip(columns, rest, strict=True):
        parts += [pl.col(column) if isinstance(column, str) else column, pl.lit(after)]
    return pl.concat_str(parts)
