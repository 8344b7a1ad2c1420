"""Answers about an object: the values that held on one day, as known on another day."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from malsim.memory.graph.tombstones import ERASED, value_as_text
from malsim.memory.law_steps import present

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.memory.graph.claim_graph import Memory
    from malsim.memory.rules import Rules


def ask(
    memory: Memory, object_: str, *, now: float, at: float | None = None, as_of: float | None = None,
    reps: Sequence[int] = (0,), rules: Rules | None = None,
) -> pl.DataFrame:  # fmt: skip
    """Return the values of an object on day `at`, as known on day `as_of`: one row per value, most believed first.

    Each writer has one vote, its latest claim that holds: valid_from ≤ at < valid_to, and no successor has begun by then.
    The votes for a value combine to belief = 1 − Π (1 − effective); among equals the value that began last comes first.

    Parameters
    ----------
    at
        Day on which the values hold, by default `as_of`.
    as_of
        Day of the knowledge, by default `now`; claims rejected later still count.
    reps
        Replications (in a store, scopes) whose claims may be read.

    Returns
    -------
    Columns rep, handle, value (as text), title, belief, status (current, or former: no longer valid or outvoted),
    valid_from, valid_to.
    """
    as_of = now if as_of is None else as_of
    at = as_of if at is None else at
    cells = _known_cells(memory, object_, as_of, reps, rules)
    successor = cells.select(row="successor").join(cells.select("row", "start"), on="row", how="left", maintain_order="left")
    holds = (pl.col("start") <= at) & (at < pl.col("valid_to").fill_null(float("inf"))) & ~(pl.col("end") <= at)
    cells = cells.with_columns(end=successor["start"]).filter(pl.col("start") <= at)
    cells = cells.with_columns(holds=holds.fill_null(value=True)).sort("start", "created", "row", descending=True)
    votes = pl.col("holds") & pl.col("row").is_first_distinct().over("writer", "holds")
    doubt = pl.when(votes).then(1.0 - pl.col("effective")).otherwise(1.0).product()
    values = cells.group_by("fact", maintain_order=True).agg(
        pl.all().exclude("holds").first(), belief=1.0 - doubt, holds=votes.any()
    )
    ranked = values.sort("holds", "belief", "start", descending=True, maintain_order=True)
    first = pl.int_range(pl.len()) == 0
    status = pl.when(first & pl.col("holds")).then(pl.lit("current")).otherwise(pl.lit("former"))
    columns = ("rep", "handle", "value", "title", "belief", status.alias("status"), pl.col("start").alias("valid_from"))
    return ranked.select(*columns, "valid_to")


def _known_cells(memory: Memory, object_: str, as_of: float, reps: Sequence[int], rules: Rules | None) -> pl.DataFrame:
    in_time = (pl.col("created") <= as_of) & ~(pl.col("rejected") <= as_of).fill_null(value=False)
    annexed = (pl.col("status") == "annexed") & pl.col("rejected").is_null()
    about = pl.col("rep").is_in(list(reps)) & (pl.col("object") == object_) & (pl.col("title") != ERASED)
    cells = present(memory, rules).memory.cells.with_row_index("row").filter(about & in_time & ~annexed)
    return cells.select(
        pl.col("row").cast(pl.Int64), "rep", "handle", "title", "writer", "created", "successor", "valid_to",
        pl.col("effective").fill_null(0.0), value=pl.coalesce(pl.col("value").cast(pl.String), "value_text", "title"),
        fact=value_as_text(), start=pl.coalesce("valid_from", "created"),
    )  # fmt: skip
