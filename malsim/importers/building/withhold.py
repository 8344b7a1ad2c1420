"""Texts that hold a credential, or that their owner marked secret, do not come."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from malsim.memory.gate import screen
from malsim.memory.graph.frames import worded

if TYPE_CHECKING:
    from malsim.memory.rules import Rules

__all__ = ["safe_extras", "withheld"]

WITHHELD = "(withheld: {})"
_TEXTS = ("title", "body", "summary", "writer", "object", "handle", "key")
_LISTS = ("topics", "entities", "source_refs")


def withheld(rows: pl.DataFrame, rules: Rules) -> tuple[pl.DataFrame, int]:
    """Rows of cells (columns of `put.ROW`) without secrets, and how many had any."""
    nothing = pl.DataFrame(schema={"claim": pl.UInt32, "target": pl.String})
    found = screen.secrets(rows.with_row_index("claim"), nothing, rules)
    marked = pl.Series(range(rows.height), dtype=pl.UInt32).filter(rows["sensitivity"] == "secret")
    if found.is_empty() and marked.is_empty():
        return rows, 0
    for name in _TEXTS:
        here = found.filter(pl.col("path") == name)
        said = here.select("claim", worded(WITHHELD, "finding").alias("said"))
        rows = rows.with_row_index("claim").join(said, on="claim", how="left", maintain_order="left")
        rows = rows.with_columns(pl.coalesce("said", name).alias(name)).drop("said", "claim")
    numbered = pl.int_range(pl.len(), dtype=pl.UInt32)
    lists = found.filter(pl.col("path").str.ends_with("]"))["claim"]
    rows = rows.with_columns(
        pl.when(numbered.is_in(pl.concat([lists, marked]).implode())).then(pl.lit([])).otherwise(name).alias(name)
        for name in _LISTS
    )
    secret = pl.when(numbered.is_in(marked.implode())).then(pl.lit(WITHHELD.format("secret")))
    rows = rows.with_columns(secret.otherwise(name).alias(name) for name in ("title", "body", "summary"))
    rows = rows.with_columns(pl.when(~numbered.is_in(marked.implode())).then("object").alias("object"))
    return rows, pl.concat([found["claim"], marked]).n_unique()


def safe_extras(extras: pl.DataFrame, rows: pl.DataFrame, rules: Rules) -> tuple[pl.DataFrame, int]:
    """Extras without those that hold a credential or belong to a secret cell, and how many were left out."""
    if extras.is_empty():
        return extras, 0
    secret = rows.filter(pl.col("sensitivity") == "secret")["key"]
    texts = extras.select(pl.int_range(pl.len()).cast(pl.String).alias("path"), pl.col("value").alias("text"))
    found = screen.in_texts(texts, rules)["path"]
    bad = texts["path"].is_in(found.implode()) | extras["cell"].is_in(secret.implode())
    return extras.filter(~bad), int(bad.sum())
