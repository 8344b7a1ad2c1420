"""Removal of texts that hold a credential or that their owner marked secret."""

from __future__ import annotations

import polars as pl

from malsim.memory.gate import screen
from malsim.memory.graph.frames import format_expr
from malsim.memory.rules import Rules

WITHHELD = "(withheld: {})"
_TEXTS = ("title", "body", "summary", "writer", "object", "handle", "key")
_LISTS = ("topics", "entities", "source_refs")


def withheld(rows: pl.DataFrame, rules: Rules) -> tuple[pl.DataFrame, int]:
    """Return rows of cells (columns of `put.ROW`) without secrets, and the number of rows that had any."""
    nothing = pl.DataFrame(schema={"claim": pl.UInt32, "target": pl.String})
    claims = rows.with_row_index("claim").with_columns(value_text=pl.lit(None, pl.String))  # no importer has any
    findings = screen.secrets(claims, nothing, rules)
    secret_rows = pl.Series(range(rows.height), dtype=pl.UInt32).filter(rows["sensitivity"] == "secret")
    if findings.is_empty() and secret_rows.is_empty():
        return rows, 0
    for name in _TEXTS:
        here = findings.filter(pl.col("path") == name)
        notices = here.select("claim", format_expr(WITHHELD, "finding").alias("notice"))
        rows = rows.with_row_index("claim").join(notices, on="claim", how="left", maintain_order="left")
        rows = rows.with_columns(pl.coalesce("notice", name).alias(name)).drop("notice", "claim")
    row_number = pl.int_range(pl.len(), dtype=pl.UInt32)
    lists = findings.filter(pl.col("path").str.ends_with("]"))["claim"]
    rows = rows.with_columns(
        pl.when(row_number.is_in(pl.concat([lists, secret_rows]).implode())).then(pl.lit([])).otherwise(name).alias(name)
        for name in _LISTS
    )
    secret = pl.when(row_number.is_in(secret_rows.implode())).then(pl.lit(WITHHELD.format("secret")))
    rows = rows.with_columns(secret.otherwise(name).alias(name) for name in ("title", "body", "summary"))
    rows = rows.with_columns(pl.when(~row_number.is_in(secret_rows.implode())).then("object").alias("object"))
    return rows, pl.concat([findings["claim"], secret_rows]).n_unique()


def safe_extras(extras: pl.DataFrame, rows: pl.DataFrame, rules: Rules) -> tuple[pl.DataFrame, int]:
    """Return extras without credentials and without those of secret cells, and the number left out."""
    if extras.is_empty():
        return extras, 0
    secret = rows.filter(pl.col("sensitivity") == "secret")["key"]
    texts = extras.select(pl.int_range(pl.len()).cast(pl.String).alias("path"), pl.col("value").alias("text"))
    findings = screen.in_texts(texts, rules)["path"]
    bad = texts["path"].is_in(findings.implode()) | extras["cell"].is_in(secret.implode())
    return extras.filter(~bad), int(bad.sum())
