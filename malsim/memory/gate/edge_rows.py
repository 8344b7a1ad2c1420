"""Functions that add a resolved batch's edges to a memory, and reinforce the cells that these edges support."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory import schema
from malsim.memory.gate.batch import all_differ
from malsim.memory.gate.resolution import SUPERSEDES
from malsim.memory.graph.frames import LazyRows, frame_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from malsim.memory.gate.batch import Batch
    from malsim.memory.gate.claims import Validated
    from malsim.memory.gate.resolution import Resolution
    from malsim.memory.graph.arrays import Bools, Ints
    from malsim.memory.graph.claim_graph import Memory
    from malsim.memory.rules import Rules


def edges_of(
    memory: Memory, checked: Validated, batch: Batch, outcome: Resolution, row_of: Callable[[Ints], Ints], rules: Rules
) -> tuple[LazyRows, Ints, tuple[Ints, Ints]]:
    """Return the new edges of the accepted claims, including the reverse edges of mutual ones, and the claim of each edge.

    The third result holds (claim, target row) for each edge of non-zero weight, as written.
    """
    keep = _keep_mask(batch, outcome, rules)
    weighs = keep & (checked.edges.column("weight") != 0.0)
    walk = batch.claim[weighs], row_of(outcome.target[weighs])
    claim = batch.claim[keep]
    if not claim.size:
        return NO_EDGES, claim, walk
    source, code, target = row_of(outcome.source[claim]), batch.code[keep], row_of(outcome.target[keep])
    mutual = checked.edges.column("mutual")[keep]
    weight, t = checked.edges.column("weight")[keep], checked.claims.column("t")[claim]
    numbers = {"source": source, "relation": code, "target": target, "weight": weight, "t": t}
    claims = checked.claims  # the lambda must not refer to `checked`, which would keep the memory before the batch alive
    edges = LazyRows(len(claim), None, dict(numbers), make=lambda _: claims.column("writer")[claim], kinds=schema.EDGES)
    if source.min() >= memory.height and not mutual.any() and _all_distinct(source, code, target):
        return edges, claim, walk
    frame = edges.frame().hstack(frame_of({"mutual": mutual, "claim": claim}))
    fresh = new_edges(memory, frame, last_weight=rules.duplicate_edges == "last_weight")
    return LazyRows.of(fresh[list(schema.EDGES)]), fresh["claim"].to_numpy(), walk


def _keep_mask(batch: Batch, outcome: Resolution, rules: Rules) -> Bools:
    keep: Bools = outcome.accepted[batch.claim] & ~outcome.dropped
    if rules.restated_edges == "dropped":
        keep &= outcome.created[batch.claim]
    if rules.handle_evidence == "inert":
        keep &= ~batch.by_handle | ((batch.code == SUPERSEDES) & (rules.supersede_name == "any"))
    return keep


NO_EDGES = LazyRows.of(pl.DataFrame(schema=schema.EDGES))
_SUPPORTS = schema.RELATIONS.index("supports")


def new_edges(memory: Memory, frame: pl.DataFrame, *, last_weight: bool = False) -> pl.DataFrame:
    """Return the edges that the memory does not have yet, without duplicates and with the reverse of each mutual edge."""
    if frame["mutual"].any():
        rows = frame.with_row_index("order")
        back = rows.filter("mutual").with_columns(source=pl.col("target"), target=pl.col("source"))
        frame = pl.concat([rows, back]).sort("order", maintain_order=True).drop("order")
    source, target = frame["source"].to_numpy(), frame["target"].to_numpy()
    same = ["source", "relation", "target"]
    if not _all_distinct(source, frame["relation"].to_physical().to_numpy(), target):
        frame = frame.unique(same, keep="last" if last_weight else "first", maintain_order=True)
    if source.size and source.min() < memory.height:  # new cells have no edges yet
        present = memory.edges.filter(pl.col("source").is_in(frame["source"].unique().implode()))
        frame = frame.join(present, on=same, how="anti", maintain_order="left")
    return frame


def _all_distinct(source: Ints, relation: NDArray[np.integer[Any]], target: Ints) -> bool:
    return all_differ((source * (target.max(initial=0) + 1) + target) * len(schema.RELATIONS) + relation)


def supported(memory: Memory, edges: LazyRows, rules: Rules) -> Memory:
    """Reinforce the cells that other writers' new edges support, if the rules count corroboration as reinforcement."""
    if rules.reinforced_by not in ("corroboration", "restatement") or not edges.height:
        return memory
    author, source, target = memory.column("author"), edges.column("source"), edges.column("target")
    backs = (edges.column("relation") == _SUPPORTS) & (author[source] != author[target])
    return refreshed(memory, target[backs], edges.column("t")[backs], rules)


def refreshed(memory: Memory, rows: Ints, now: NDArray[np.float64], rules: Rules) -> Memory:
    """Reinforce cells on given days: if the day is later than `touched`, update `touched` and reset currency to c0."""
    cells, index = np.unique(rows, return_inverse=True)
    before = memory.values("touched", cells)
    touched = before.copy()
    np.maximum.at(touched, index, np.broadcast_to(now, len(rows)))
    moved = touched > before
    if rules.locks == "enforced":
        moved &= ~memory.values("immutable", cells)
    return memory.changed(cells[moved], {"touched": touched[moved], "currency": memory.values("c0", cells[moved])})
