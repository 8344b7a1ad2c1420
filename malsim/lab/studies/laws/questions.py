"""Questions to a memory: which object, when, what is true then, and whether that value was true before."""

from __future__ import annotations

import polars as pl

__all__ = ["questions_of"]


def questions_of(truth: pl.DataFrame, *, ask: float = 0.0) -> pl.DataFrame:
    """One row a question: object, asked (days; null for an undated truth), value, returned.

    A dated truth is asked `ask` days after each *change*: a row whose value differs from the row before it of the same
    object; an object's first value is no change. `returned` marks changes to a value that the object had before. An undated
    truth is asked once, when all is said.

    >>> truth = pl.DataFrame({"object": ["x"] * 4, "value": ["A", "B", "B", "A"], "asked": [0.0, 5.0, 6.0, 9.0]})
    >>> questions_of(truth, ask=1.0).rows()
    [('x', 6.0, 'B', False), ('x', 10.0, 'A', True)]
    """
    if truth["asked"].null_count() == truth.height:
        first = truth.unique("object", keep="first", maintain_order=True)
        return first.select("object", "asked", "value", returned=pl.lit(value=False))
    ordered = truth.drop_nulls("asked").sort("object", "asked", maintain_order=True)
    before = pl.col("value").shift().over("object")
    runs = ordered.filter(pl.col("value").ne_missing(before)).with_columns(
        returned=pl.int_range(pl.len()).over("object", "value") > 0, first=before.is_null()
    )
    changes = runs.filter(~pl.col("first"))
    return changes.select("object", pl.col("asked") + ask, "value", "returned").sort("asked", maintain_order=True)
