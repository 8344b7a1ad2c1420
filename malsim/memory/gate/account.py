"""What the gate said of a batch, told as events: each verdict, each confidence that was lowered, each cell that gave way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory import schema
from malsim.memory.graph.frames import format_expr

if TYPE_CHECKING:
    from malsim.memory.gate.verdicts import GateResult
    from malsim.memory.graph.arrays import Ints
    from malsim.memory.graph.claim_graph import Memory

__all__ = ["account", "issues_as_text", "verdict_events"]

EVENT = ("t", "rep", "kind", "subject", "detail", "cause")
KINDS = dict(zip(schema.VERDICT, ("admitted", "deduplicated", "rejected"), strict=True))


def account(result: GateResult) -> pl.DataFrame:
    """One event a claim, then one each that was attenuated, then one a cell that was superseded."""
    parts = [*verdict_events(result.verdicts), *_replacements(np.sort(result.superseded), result.memory)]
    return pl.concat([part.select(EVENT) for part in parts])


def issues_as_text() -> pl.Expr:
    """The `issues` of verdicts as text, each with the path of the field it is about."""
    one = format_expr("{}: {}", pl.element().struct["path"], pl.element().struct["message"])
    return pl.col("issues").list.eval(one).list.join("; ")


def verdict_events(verdicts: pl.DataFrame) -> list[pl.DataFrame]:
    """One event a claim: admitted, deduplicated or rejected; and one more for each that was attenuated."""
    by = format_expr("by {}", pl.col("writer").fill_null("?"))
    claim = format_expr("claim {} of {}", "sequence", pl.col("writer").fill_null("?"))
    events = verdicts.select(
        "t",
        "rep",
        pl.col("verdict").cast(pl.String).replace_strict(KINDS, return_dtype=pl.String).alias("kind"),
        pl.col("handle").alias("subject"),
        pl.when(pl.col("issues").list.len() > 0).then(issues_as_text()).otherwise(by).alias("detail"),
        claim.alias("cause"),
    )
    attenuated = verdicts.filter((pl.col("notes").list.len() > 0) | (pl.col("calibration") < 1.0)).select(
        "t",
        "rep",
        pl.lit("attenuated").alias("kind"),
        pl.col("handle").alias("subject"),
        pl.concat_list(
            "notes",
            pl.when(pl.col("calibration") < 1.0).then(format_expr("calibration × {}", pl.col("calibration").round(3))),
        ).list.drop_nulls().list.join("; ").alias("detail"),
        claim.alias("cause"),
    )  # fmt: skip
    return [events, attenuated] if attenuated.height else [events]


def _replacements(rows: Ints, after: Memory) -> list[pl.DataFrame]:
    """One event a cell that a batch superseded."""
    if not rows.size:
        return []
    cells = after.cells
    superseded = cells.select("rep", pl.col("handle").alias("subject"), "successor")[rows]
    heir = cells.select(
        pl.col("created").alias("t"),
        format_expr("by {} of {}", "handle", "writer").alias("detail"),
        pl.col("handle").alias("cause"),
    )[superseded["successor"]]
    return [pl.concat([superseded, heir], how="horizontal").with_columns(kind=pl.lit("superseded"))]
