"""The rows a resolved batch adds: cells, edges, writers; and what it changes on cells that stood."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory import schema
from malsim.memory.gate.numbering import all_differ, look_up_keys
from malsim.memory.gate.resolve import SUPERSEDES
from malsim.memory.gate.rows import new_cells
from malsim.memory.graph.claim_graph import Memory
from malsim.memory.graph.frames import Deferred, framed, places
from malsim.memory.graph.handles import named
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from malsim.memory.gate.claims import Validated
    from malsim.memory.gate.numbering import Batch, Bools, Ints
    from malsim.memory.gate.resolve import Outcome, Replaced
    from malsim.memory.rules import Rules

__all__ = ["Built", "build", "new_edges", "refreshed", "supported"]


@dataclass(frozen=True)
class Built:
    """The memory after a batch.

    `row` is the cell each claim became or restated, NONE where it was refused; edges from `first_edge` on are new, and
    `edge_claim` says by which claim; `demoted` holds (row, claim) of each cell replaced and the claim that did it, `walk`
    (claim, row) of each edge that weighs something, as written.
    """

    memory: Memory
    row: Ints
    first_edge: int
    edge_claim: Ints
    demoted: tuple[Ints, Ints]
    walk: tuple[Ints, Ints]


@dataclass(frozen=True)
class Rows:
    """From the ids of a resolved batch to rows: those below `cells` are rows, the others claims, each with a row or NONE."""

    cells: int
    of_claim: Ints

    def of(self, ids: Ints) -> Ints:
        """The row of each id."""
        rows: Ints = np.where(ids < self.cells, ids, self.of_claim[np.maximum(ids - self.cells, 0)])
        return rows


def build(memory: Memory, checked: Validated, batch: Batch, outcome: Outcome, replaced: Replaced, rules: Rules) -> Built:
    """Add what was accepted."""
    created = np.flatnonzero(outcome.created)
    every = len(created) == len(batch.sound)
    made = checked.told if every else checked.told.rows(created)
    reused = np.full(made.height, NONE, dtype=np.int64)
    if rules.reused_keys != "refused":
        reused = look_up_keys(memory, made.frame()["rep"], made.frame()["key"])
    appended = reused == NONE
    of_claim = np.full(len(batch.sound), NONE, dtype=np.int64)
    of_claim[created] = np.where(appended, batch.cells + np.cumsum(appended) - 1, reused)
    rows = Rows(batch.cells, of_claim)
    claimed_by = batch.authors.of_claims[created]
    author, writers = _writers(memory, made, claimed_by)
    factor, live = batch.authors.factor[claimed_by], batch.fresh[created]
    names, own = named(memory, made)
    cells = new_cells(made, names, author=author, factor=factor, live=live, rules=rules)
    before, new = memory, cells
    if not appended.all():
        before, new = _overwritten(memory, cells.frame(), reused), cells.rows(np.flatnonzero(appended))
    kept = _kept(batch, outcome, rules)
    edges, edge_claim = _edges(before, checked, batch, outcome, rows, kept, rules)
    weighs = kept & (checked.linked.column("weight") != 0.0)
    walk = (batch.claim[weighs], rows.of(outcome.target[weighs]))
    row = np.where(outcome.accepted, rows.of(outcome.source), NONE)
    after = before.grown(new, edges, writers, own)
    if replaced.lines[0].size:
        after = _demoted(after, replaced, rows)
    after = _reinforced(after, checked.told, outcome, rows, edges, rules)
    return Built(after, row, before.table("edges").height, edge_claim, (rows.of(replaced.old), replaced.at), walk)


def _overwritten(memory: Memory, cells: pl.DataFrame, reused: Ints) -> Memory:
    """The reference's answer to a key used again: the old row and its out-edges give way."""
    gone = np.unique(reused[reused != NONE])
    _, last = np.unique(reused[::-1], return_index=True)
    keep = np.zeros(len(reused), dtype=bool)
    keep[len(reused) - 1 - last] = True
    keep &= reused != NONE
    new = cells.filter(pl.Series(keep)).with_columns(pl.Series("row", reused[keep]))
    old = memory.cells.with_columns(pl.int_range(pl.len()).alias("row")).filter(~pl.col("row").is_in(gone))
    return Memory(
        pl.concat([old, new]).sort("row").drop("row"),
        memory.edges.filter(~pl.col("source").is_in(gone)),
        memory.writers,
        memory.scanned,
    )


def _writers(memory: Memory, made: Deferred, author: Ints) -> tuple[Ints, Deferred]:
    """Row of each new cell's writer, and the rows of writers who were not there yet."""
    known = memory.table("writers").height
    unseen, first, place = np.unique(author[author >= known], return_index=True, return_inverse=True)
    if not unseen.size:
        return author, _NOBODY
    order = np.argsort(first)  # new writers stand in the order in which they were first admitted
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    numbered = author.copy()
    numbered[author >= known] = known + rank[place]
    at = np.flatnonzero(author >= known)[first[order]]
    nothing = np.zeros(len(at), dtype=np.int64)
    record = {"claims": nothing, "contradicted": nothing, "calibration": np.ones(len(at))}
    named = {name: made.column(name)[at] for name in ("rep", "writer")}
    return numbered, Deferred(len(at), partial(_recorded, named, record), named | record)


def _recorded(named: Mapping[str, NDArray[Any]], record: Mapping[str, NDArray[Any]]) -> pl.DataFrame:
    """New writers in full."""
    writer = pl.Series(named["writer"].tolist(), dtype=pl.String)
    return framed({"rep": named["rep"].astype(np.int32), "writer": writer, **record})


_NOBODY = Deferred.of(pl.DataFrame(schema=schema.WRITERS))


def _kept(batch: Batch, outcome: Outcome, rules: Rules) -> Bools:
    """Which edges the rules keep of the claims that were accepted."""
    keep: Bools = outcome.accepted[batch.claim]
    if rules.restated_edges == "dropped":
        keep &= outcome.created[batch.claim]
    if rules.handle_evidence == "inert":
        keep &= ~batch.by_handle | ((batch.code == SUPERSEDES) & (rules.supersede_name == "any"))
    return keep


def _edges(
    memory: Memory, checked: Validated, batch: Batch, outcome: Outcome, rows: Rows, keep: Bools, rules: Rules
) -> tuple[Deferred, Ints]:
    """Edges of accepted claims, reverse edges of mutual ones included, by row; and the claim of each."""
    claim = batch.claim[keep]
    if not claim.size:
        return _NO_EDGES, claim
    source, code, target = rows.of(outcome.source[claim]), batch.code[keep], rows.of(outcome.target[keep])
    mutual = checked.linked.column("mutual")[keep]
    weight, t = checked.linked.column("weight")[keep], checked.told.column("t")[claim]
    numbers = {"source": source, "relation": code, "target": target, "weight": weight, "t": t}
    written = Deferred(len(claim), partial(_written, numbers, checked.told, claim), numbers)
    if source.min() >= memory.height and not mutual.any() and _no_two_alike(source, code, target):
        return written, claim
    frame = written.frame().hstack(framed({"mutual": mutual, "claim": claim}))
    fresh = new_edges(memory, frame, last_weight=rules.duplicate_edges == "last_weight")
    return Deferred.of(fresh[list(schema.EDGES)]), fresh["claim"].to_numpy()


def _written(numbers: Mapping[str, NDArray[Any]], told: Deferred, claim: Ints) -> pl.DataFrame:
    """Edges in full, by those who claimed them."""
    writer = pl.Series(told.column("writer")[claim].tolist(), dtype=pl.String)
    columns: dict[str, pl.Series | NDArray[Any]] = {
        **numbers,
        "relation": _RELATIONS[places(numbers["relation"])],
        "writer": writer,
    }
    return framed({name: columns[name] for name in schema.EDGES})


_NO_EDGES = Deferred.of(pl.DataFrame(schema=schema.EDGES))
_RELATIONS = pl.Series(schema.RELATIONS, dtype=schema.EDGES["relation"])
_SUPPORTS = schema.RELATIONS.index("supports")


def new_edges(memory: Memory, frame: pl.DataFrame, *, last_weight: bool = False) -> pl.DataFrame:
    """Of edges by row with a column `mutual`, and the reverse of each mutual one, those that do not stand yet."""
    if frame["mutual"].any():
        numbered = frame.with_row_index("order")
        back = numbered.filter("mutual").with_columns(source=pl.col("target"), target=pl.col("source"))
        frame = pl.concat([numbered, back]).sort("order", maintain_order=True).drop("order")
    source, target = frame["source"].to_numpy(), frame["target"].to_numpy()
    same = ["source", "relation", "target"]
    if not _no_two_alike(source, frame["relation"].to_physical().to_numpy(), target):
        frame = frame.unique(same, keep="last" if last_weight else "first", maintain_order=True)
    if source.size and source.min() < memory.height:  # only a cell that stood can have edges that stand
        touched = memory.edges.filter(pl.col("source").is_in(frame["source"].unique().implode()))
        frame = frame.join(touched, on=same, how="anti", maintain_order="left")
    return frame


def _no_two_alike(source: Ints, relation: NDArray[np.integer[Any]], target: Ints) -> bool:
    """Whether no two edges say the same."""
    said = (source * (target.max(initial=0) + 1) + target) * len(schema.RELATIONS) + relation
    return all_differ(said)


def _demoted(memory: Memory, replaced: Replaced, rows: Rows) -> Memory:
    """Status and successor of replaced cells, and versions along the lines."""
    new, old = (rows.of(ids) for ids in replaced.lines)
    cells, place = np.unique(np.concatenate([new, old]), return_inverse=True)
    version, newer, older = memory.values("version", cells), place[: len(new)], place[len(new) :]
    for _ in range(len(new)):  # as often as the longest line within the batch
        risen = version[older] + 1
        if (risen <= version[newer]).all():
            break
        np.maximum.at(version, newer, risen)
    memory = memory.changed(cells, {"version": version})
    return memory.changed(rows.of(replaced.old), {"status": "superseded", "successor": rows.of(replaced.new)})


def _reinforced(memory: Memory, told: Deferred, outcome: Outcome, rows: Rows, edges: Deferred, rules: Rules) -> Memory:
    """Touch the cells that this batch corroborated or restated, where the rules count that as reinforcement."""
    if edges.height:
        memory = supported(memory, edges, rules)
    if rules.reinforced_by != "restatement":
        return memory
    again = outcome.accepted & ~outcome.created
    return refreshed(memory, rows.of(outcome.source[again]), told.column("t")[again], rules)


def supported(memory: Memory, edges: Deferred, rules: Rules) -> Memory:
    """Touch the cells that new edges support on another writer's word, where the rules count that as reinforcement."""
    if rules.reinforced_by not in ("corroboration", "restatement") or not edges.height:
        return memory
    author, source, target = memory.column("author"), edges.column("source"), edges.column("target")
    backs = (edges.column("relation") == _SUPPORTS) & (author[source] != author[target])
    return refreshed(memory, target[backs], edges.column("t")[backs], rules)


def refreshed(memory: Memory, rows: Ints, now: NDArray[np.float64], rules: Rules) -> Memory:
    """Cells touched at times later than before: currency back to c0, but for immutable ones under enforced locks."""
    cells, place = np.unique(rows, return_inverse=True)
    before = memory.values("touched", cells)
    touched = before.copy()
    np.maximum.at(touched, place, np.broadcast_to(now, len(rows)))
    moves = touched > before
    if rules.locks == "enforced":
        moves &= ~memory.values("immutable", cells)
    later = cells[moves]
    return memory.changed(later, {"touched": touched[moves], "currency": memory.values("c0", later)})
