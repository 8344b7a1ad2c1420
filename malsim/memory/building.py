"""The rows a resolved batch adds: cells, edges, writers; and what it changes on cells that stood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory import schema, scores
from malsim.memory.cells import Memory
from malsim.memory.handles import is_immutable
from malsim.memory.naming import named
from malsim.memory.numbering import content_of, folded, look_up
from malsim.memory.relations import NONE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.memory.corrections import Replaced
    from malsim.memory.numbering import Batch, Bools, Ints
    from malsim.memory.relations import Outcome
    from malsim.memory.rules import Rules
    from malsim.memory.validation import Validated

__all__ = ["Built", "build", "new_edges", "refreshed", "supported"]


@dataclass(frozen=True)
class Built:
    """The memory after a batch.

    `row` is the cell each claim became or restated, NONE where it was refused; edges from `first_edge` on are new;
    `demoted` holds (row, claim) of each cell replaced and the claim that did it, `walk` (claim, row) of each edge that
    weighs something, as written.
    """

    memory: Memory
    row: Ints
    first_edge: int
    demoted: tuple[Ints, Ints]
    walk: tuple[Ints, Ints]


def build(
    memory: Memory,
    checked: Validated,
    batch: Batch,
    outcome: Outcome,
    replaced: Replaced,
    factor: NDArray[np.float64],
    rules: Rules,
) -> Built:
    """Add what was accepted."""
    created = np.flatnonzero(outcome.created)
    made = checked.claims.select(pl.all().gather(created))
    reused = _reused_rows(memory, made, rules)
    appended = reused == NONE
    rows = np.arange(batch.cells + len(batch.sound))  # id -> row
    rows[batch.cells :] = NONE
    rows[batch.cells + created] = np.where(appended, batch.cells + np.cumsum(appended) - 1, reused)
    author, writers = _writers(memory, made, batch.authors.of_claims[created])
    cells = _cells(memory, made, factor[created], author, batch.fresh[created], rules)
    kept = _kept(batch, outcome, rules)
    edges = _edges(memory, checked, batch, outcome, rows, kept, rules)
    before = memory
    if not appended.all():
        before = _overwritten(memory, cells, reused)
        cells = cells.filter(pl.Series(appended))
    standing = pl.concat([before.cells, cells]) if cells.height else before.cells
    standing = _demoted(standing, replaced, rows)
    standing = _reinforced(standing, checked.claims, outcome, rows, edges, rules)
    after = Memory(standing, pl.concat([before.edges, edges]) if edges.height else before.edges, writers, memory.scanned)
    row = np.where(outcome.accepted, rows[outcome.source], NONE)
    weighs = kept & (checked.edges["weight"] != 0.0).to_numpy()
    walk = (batch.claim[weighs], rows[outcome.target[weighs]])
    return Built(after, row, before.edges.height, (rows[replaced.old], replaced.at), walk)


def _reused_rows(memory: Memory, made: pl.DataFrame, rules: Rules) -> Ints:
    """The standing row that each new cell's key already names, where rules let keys be used again."""
    if rules.reused_keys == "refused":
        return np.full(made.height, NONE, dtype=np.int64)
    return look_up(memory, made["rep"], made["key"])


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
    )


def _writers(memory: Memory, made: pl.DataFrame, author: Ints) -> tuple[Ints, pl.DataFrame]:
    """Row of each new cell's writer, and the writers frame with those who were not in it."""
    known = memory.writers.height
    unseen, first, place = np.unique(author[author >= known], return_index=True, return_inverse=True)
    if not unseen.size:
        return author, memory.writers
    order = np.argsort(first)  # new writers stand in the order in which they were first admitted
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    numbered = author.copy()
    numbered[author >= known] = known + rank[place]
    who = made.filter(pl.Series(author >= known)).select("rep", "writer").select(pl.all().gather(first[order]))
    new = who.with_columns(
        pl.lit(0, pl.Int64).alias("claims"), pl.lit(0, pl.Int64).alias("contradicted"), pl.lit(1.0).alias("calibration")
    )
    return numbered, pl.concat([memory.writers, new])


def _cells(
    memory: Memory, made: pl.DataFrame, factor: NDArray[np.float64], author: Ints, live: Bools, rules: Rules
) -> pl.DataFrame:
    """New cells with their first scores."""
    stated = made["stated"].to_numpy()
    text = made.select("rep", "kind", folded(pl.col("title")).alias("title"))
    new = made.with_columns(
        *named(memory, made),
        content_of(text),
        pl.col("handle").is_not_null().alias("given"),
        pl.when(pl.Series(live)).then(pl.lit("active")).otherwise(pl.lit("annexed")).alias("status"),
        pl.col("t").alias("created"),
        pl.col("t").alias("touched"),
        *(pl.col(name).fill_null([]) for name in ("topics", "entities", "source_refs")),
        pl.Series("author", author),
        pl.Series("calibration", factor),
        pl.Series("effective", np.clip(stated * factor, 0.0, 1.0)),
        pl.col("uncertainty").fill_null(pl.Series(scores.thousandths((1.0 - stated) * 0.7))),
        pl.col("concern").fill_null(pl.Series(scores.thousandths((1.0 - stated) * 0.3))),
        pl.Series("source_quality", scores.source_quality(stated)),
        *(pl.lit(0.0).alias(name) for name in ("support_mass", "challenge_mass", "worth")),
        *(pl.lit(1.0).alias(name) for name in ("c0", "currency")),
        *(pl.lit(rules.salience_seed).alias(name) for name in ("salience_seed", "salience")),
        *(pl.lit(None).alias(name) for name in ("successor", "read")),
        pl.lit(1).alias("version"),
    )
    new = new.with_columns(pl.col("name").alias("handle"), is_immutable(pl.col("name")).alias("immutable"))
    return new.select([pl.col(name).cast(kind) for name, kind in schema.CELLS.items()])


def _kept(batch: Batch, outcome: Outcome, rules: Rules) -> Bools:
    """Which edges the rules keep of the claims that were accepted."""
    keep = outcome.accepted[batch.claim]
    if rules.restated_edges == "dropped":
        keep &= outcome.created[batch.claim]
    if rules.handle_evidence == "inert":
        keep &= ~batch.by_handle | ((batch.relation == "supersedes") & (rules.supersede_name == "any"))
    return keep


def _edges(
    memory: Memory, checked: Validated, batch: Batch, outcome: Outcome, rows: Ints, keep: Bools, rules: Rules
) -> pl.DataFrame:
    """Edges of accepted claims, reverse edges of mutual ones included, by row."""
    if not keep.any():
        return pl.DataFrame(schema=schema.EDGES)
    claim = batch.claim[keep]
    frame = checked.edges.filter(pl.Series(keep)).select(
        pl.Series("source", rows[outcome.source[claim]]),
        "relation",
        pl.Series("target", rows[outcome.target[keep]]),
        "weight",
        checked.claims["writer"].gather(claim).alias("writer"),
        checked.claims["t"].gather(claim).alias("t"),
        "mutual",
    )
    return new_edges(memory, frame, last_weight=rules.duplicate_edges == "last_weight")


def new_edges(memory: Memory, frame: pl.DataFrame, *, last_weight: bool = False) -> pl.DataFrame:
    """Of edges by row with a column `mutual`, and the reverse of each mutual one, those that do not stand yet."""
    if frame["mutual"].any():
        numbered = frame.with_row_index("order")
        back = numbered.filter("mutual").with_columns(source=pl.col("target"), target=pl.col("source"))
        frame = pl.concat([numbered, back]).sort("order", maintain_order=True).drop("order")
    frame = frame.drop("mutual").cast(schema.EDGES)  # type: ignore[arg-type]  # a dict of polars types
    same = ["source", "relation", "target"]
    frame = frame.unique(same, keep="last" if last_weight else "first", maintain_order=True)
    oldest = frame["source"].min()
    if isinstance(oldest, int) and oldest < memory.cells.height:  # only a cell that stood can have edges that stand
        touched = memory.edges.filter(pl.col("source").is_in(frame["source"].unique().implode()))
        frame = frame.join(touched, on=same, how="anti", maintain_order="left")
    return frame


def _demoted(cells: pl.DataFrame, replaced: Replaced, rows: Ints) -> pl.DataFrame:
    """Status and successor of replaced cells, and versions along the lines."""
    new, old = (rows[ids] for ids in replaced.lines)
    if not new.size:
        return cells
    version = cells["version"].to_numpy().copy()
    for _ in range(len(new)):  # as often as the longest line within the batch
        grown = version.copy()
        np.maximum.at(grown, new, version[old] + 1)
        if np.array_equal(grown, version):
            break
        version = grown
    heir = np.full(cells.height, NONE, dtype=np.int64)
    heir[rows[replaced.old]] = rows[replaced.new]
    gone = pl.Series(heir != NONE)
    return cells.with_columns(
        pl.Series("version", version),
        pl.when(gone).then(pl.lit("superseded", schema.CELLS["status"])).otherwise("status").alias("status"),
        pl.when(gone).then(pl.Series(heir)).otherwise("successor").alias("successor"),
    )


def _reinforced(
    cells: pl.DataFrame, claims: pl.DataFrame, outcome: Outcome, rows: Ints, edges: pl.DataFrame, rules: Rules
) -> pl.DataFrame:
    """Touch the cells that this batch corroborated or restated, where the rules count that as reinforcement."""
    cells = supported(cells, edges, rules)
    if rules.reinforced_by != "restatement":
        return cells
    touched = np.full(cells.height, -np.inf)
    again = outcome.accepted & ~outcome.created
    np.maximum.at(touched, rows[outcome.source[again]], claims["t"].to_numpy()[again])
    return refreshed(cells, touched, rules)


def supported(cells: pl.DataFrame, edges: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """Touch the cells that new edges support on another writer's word, where the rules count that as reinforcement."""
    if rules.reinforced_by not in ("corroboration", "restatement") or edges.is_empty():
        return cells
    touched = np.full(cells.height, -np.inf)
    author = cells["author"].to_numpy()
    source, target = edges["source"].to_numpy(), edges["target"].to_numpy()
    backs = (edges["relation"] == "supports").to_numpy() & (author[source] != author[target])
    np.maximum.at(touched, target[backs], edges["t"].to_numpy()[backs])
    return refreshed(cells, touched, rules)


def refreshed(cells: pl.DataFrame, touched: NDArray[np.float64], rules: Rules) -> pl.DataFrame:
    """Cells touched at a time later than before: currency back to c0, but for immutable ones under enforced locks."""
    later = touched > cells["touched"].to_numpy()
    if rules.locks == "enforced":
        later &= ~cells["immutable"].to_numpy()
    if not later.any():
        return cells
    now = pl.Series(later)
    return cells.with_columns(
        pl.when(now).then(pl.Series(touched)).otherwise("touched").alias("touched"),
        pl.when(now).then("c0").otherwise("currency").alias("currency"),
    )
