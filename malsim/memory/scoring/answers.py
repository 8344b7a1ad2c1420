"""Answers of a memory: for each object, the head with the highest effective confidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.memory.graph.claim_graph import Memory

_PAIR = ["rep", "object", "said"]


def heads(memory: Memory) -> pl.DataFrame:
    """Return the head of each (object, value): its first active cell, as rep, object, said (the value), row, effective.

    A claim's value is its `value`, or its title where it has none. Cells without an object answer nothing.
    """
    return _cell_values(memory).filter(pl.col("status") == "active").unique(_PAIR, keep="first", maintain_order=True)


def answers(memory: Memory) -> pl.DataFrame:
    ranked = heads(memory).sort(["effective", "row"], descending=[True, False], nulls_last=True)
    return ranked.unique(["rep", "object"], keep="first", maintain_order=True).sort("row")


def leaders(memory: Memory) -> pl.DataFrame:
    """Return the answers with `tied`: the values of all heads of the object with the highest effective confidence."""
    every = heads(memory)
    highest = every.filter(pl.col("effective") == pl.col("effective").max().over("rep", "object"))
    tied = highest.group_by("rep", "object").agg(tied="said")
    return answers(memory).join(tied, on=["rep", "object"], how="left", maintain_order="left").with_columns(
        tied=pl.coalesce("tied", pl.concat_list("said"))
    )  # fmt: skip


def share_right(truth: str) -> pl.Expr:
    """Return the credit of an answer: 1/k if the true value, in a column, is one of k tied values, else 0."""
    return pl.when(pl.col("tied").list.contains(pl.col(truth))).then(1.0 / pl.col("tied").list.len()).otherwise(0.0)


def wrong_by_answer(memory: Memory, effective: NDArray[np.float64]) -> NDArray[np.bool_]:
    trial = memory.with_cells(memory.cells.with_columns(pl.Series("effective", effective).fill_nan(None)))
    answer = answers(trial).select("rep", "object", answer="said")
    values = _cell_values(trial).join(answer, on=["rep", "object"], how="left", maintain_order="left")
    wrong = np.zeros(memory.height, dtype=bool)
    wrong[values["row"].to_numpy()] = (values["said"] != values["answer"]).fill_null(value=False).to_numpy()
    return wrong


def _cell_values(memory: Memory) -> pl.DataFrame:
    cells = memory.cells.select("rep", "object", "value", "title", "status", "effective").with_row_index("row")
    value = pl.coalesce(pl.col("value").cast(pl.String), pl.col("title"))
    return cells.filter(pl.col("object").is_not_null() & (pl.col("object") != "")).with_columns(value.alias("said"))
