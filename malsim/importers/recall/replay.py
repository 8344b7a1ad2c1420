"""A Recall store's history replayed: its cells admitted in the order in which they came, ticked when it was ticked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from malsim.memory import schema
from malsim.memory.gate.admit import admit
from malsim.memory.graph.claim_graph import Memory
from malsim.memory.law import tick
from malsim.memory.rules import Rules

_DERIVED = "program:"  # the owner of a witness that a program derived, in the run that ticked just before


def replayed_memory(rows: pl.DataFrame, edges: pl.DataFrame, ticks: Sequence[float], rules: Rules) -> Memory:
    """The memory that the rows (of `cells.rows_of`) come to when replayed under the rules.

    Each cell is admitted after what its edges name, with the calibration factor on record; edges of one cell are walked in
    the order given. `ticks` are days in rising order.
    """
    order, run = timeline(rows, edges, ticks)
    claims, memory = _claims(rows, edges)[order], Memory.empty()
    for count in range(len(ticks) + 1):
        now = claims.filter(pl.Series(run == count)).with_columns(t=pl.int_range(pl.len()).cast(pl.Float64))
        factors = dict(now.select("writer", "factor").unique().rows())
        memory = _with_days(admit(memory, now.drop("factor"), rules, factors=factors).memory, rows)
        if count < len(ticks):
            memory = tick(memory, float(ticks[count]), rules)
    return memory


def timeline(rows: pl.DataFrame, edges: pl.DataFrame, ticks: Sequence[float]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows in the order in which they were admitted, and how many of the ticks had been before each."""
    order, due = _order(rows, edges), np.array(ticks)
    created, derived = rows["created"].to_numpy(), rows["writer"].str.starts_with(_DERIVED).to_numpy()
    run = np.searchsorted(due, created, side="left") + (derived & np.isin(created, due))
    return order, np.minimum.accumulate(run[order][::-1])[::-1]  # what a cell names was there before it, whatever its date


def _with_days(memory: Memory, rows: pl.DataFrame) -> Memory:
    """The memory with the days on which its cells were really written."""
    days = memory.cells.select("key").join(rows, on="key", how="left", maintain_order="left")
    return memory.with_cells(memory.cells.with_columns(days["created"], days["touched"]))


def _order(rows: pl.DataFrame, edges: pl.DataFrame) -> NDArray[np.int64]:
    """Rows by creation, but each after what its edges name; where that runs in a circle, by creation alone."""
    place = {key: row for row, key in enumerate(rows["key"].to_list())}
    targets: dict[int, list[int]] = {}
    for source, target in edges.select("source", "target").rows():
        if source in place and target in place:
            targets.setdefault(place[source], []).append(place[target])
    order: dict[int, None] = {}
    for first in np.argsort(rows["created"].to_numpy(), kind="stable").tolist():
        waiting, begun = [first], set[int]()
        while waiting:
            row = waiting[-1]
            missing = [] if row in begun else [other for other in targets.get(row, []) if other not in order]
            begun.add(row)
            waiting += [other for other in missing if other not in begun]
            if waiting[-1] == row:
                order[waiting.pop()] = None
    return np.array(list(order), dtype=np.int64)


def _claims(rows: pl.DataFrame, edges: pl.DataFrame) -> pl.DataFrame:
    """Rows as claims whose writer is named after its factor, so that each is taken with its own."""
    edge = pl.struct("relation", "target", "weight", mutual=pl.lit(value=False)).alias("edges")
    edge_lists = edges.group_by("source", maintain_order=True).agg(edge).rename({"source": "key"})
    return rows.select(
        *("key", "kind", "title", "body", "stability", "sensitivity", *schema.FLAGS),
        pl.col("stated").alias("confidence"),
        pl.col("calibration").alias("factor"),
        pl.col("calibration").cast(pl.String).alias("writer"),
        pl.lit("external").alias("verification"),  # capped already, long ago
    ).join(edge_lists, on="key", how="left", maintain_order="left")
