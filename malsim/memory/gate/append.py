"""Functions that add a resolved batch to a memory as cells and writers, and update the existing cells."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory import schema
from malsim.memory.gate.batch import look_up_keys
from malsim.memory.gate.edge_rows import NO_EDGES, edges_of, refreshed, supported
from malsim.memory.graph.claim_graph import Memory
from malsim.memory.graph.frames import LazyRows, lists
from malsim.memory.graph.index import name_cells
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from malsim.memory.gate.batch import Batch
    from malsim.memory.gate.claims import Validated
    from malsim.memory.gate.resolution import Demotions, Resolution
    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.memory.rules import Rules


@dataclass(frozen=True)
class BatchResult:
    """Memory after a batch of claims, and the cell that each claim became or restated.

    `row` is the cell that each claim became or restated, NONE if refused. Edges from `first_edge` on are new, and
    `edge_claim` holds their claims. `demotions` holds (row, claim): each superseded cell and the claim that superseded it.
    `walk` holds (claim, target row) for each edge of non-zero weight, as written.
    """

    memory: Memory
    row: Ints
    first_edge: int
    edge_claim: Ints
    demotions: tuple[Ints, Ints]
    walk: tuple[Ints, Ints]


def build(
    memory: Memory, checked: Validated, batch: Batch, outcome: Resolution, demotions: Demotions, rules: Rules
) -> BatchResult:
    """Add the cells, edges and writers of a resolved batch to a memory, and supersede the cells that the batch replaces."""
    created = np.flatnonzero(outcome.created)
    every = len(created) == len(batch.sound)
    claims = checked.claims if every else checked.claims.rows(created)
    reused = np.full(claims.height, NONE, dtype=np.int64)
    if rules.reused_keys != "refused":
        reused = look_up_keys(memory, claims.frame()["rep"], claims.frame()["key"])
    appended = reused == NONE
    of_claim = np.full(len(batch.sound), NONE, dtype=np.int64)
    of_claim[created] = np.where(appended, batch.cells + np.cumsum(appended) - 1, reused)

    def row_of(ids: Ints) -> Ints:
        rows: Ints = np.where(ids < batch.cells, ids, of_claim[np.maximum(ids - batch.cells, 0)])
        return rows

    claimed_by = batch.writer[created]
    author, writers = _writers(memory, claims, claimed_by)
    factor, live = batch.factor[claimed_by], batch.fresh[created]
    names, listed = name_cells(memory.index, memory.column("rep"), claims)
    cells = new_cells(claims, names, author=author, factor=factor, live=live, rules=rules)
    before, new = memory, cells
    if not appended.all():
        before, new = _overwritten(memory, cells.frame(), reused), cells.rows(np.flatnonzero(appended))
    edges, edge_claim, walk = NO_EDGES, batch.claim, (batch.claim, batch.claim)
    if batch.claim.size:
        edges, edge_claim, walk = edges_of(before, checked, batch, outcome, row_of, rules)
    row = np.where(outcome.accepted, row_of(outcome.source), NONE)
    after = before.append(new, edges, writers, listed)
    if demotions.lines[0].size:
        after = _superseded(after, demotions, row_of)
    if edges.height:
        after = supported(after, edges, rules)
    if rules.reinforced_by == "restatement" and not every:
        restating = np.flatnonzero(outcome.accepted & ~outcome.created)
        after = refreshed(after, row[restating], checked.claims.column("t")[restating], rules)
    replaced = row_of(demotions.old), demotions.claim
    return BatchResult(after, row, before.table("edges").rows.height, edge_claim, replaced, walk)


def _overwritten(memory: Memory, cells: pl.DataFrame, reused: Ints) -> Memory:
    old_rows = np.unique(reused[reused != NONE])
    _, last = np.unique(reused[::-1], return_index=True)
    keep = np.zeros(len(reused), dtype=bool)
    keep[len(reused) - 1 - last] = True
    keep &= reused != NONE
    new = cells.filter(pl.Series(keep)).with_columns(pl.Series("row", reused[keep]))
    old = memory.cells.with_columns(pl.int_range(pl.len()).alias("row")).filter(~pl.col("row").is_in(old_rows))
    return Memory(
        pl.concat([old, new]).sort("row").drop("row"),
        memory.edges.filter(~pl.col("source").is_in(old_rows)),
        memory.writers,
        memory.scanned,
    )


def _writers(memory: Memory, claims: LazyRows, author: Ints) -> tuple[Ints, LazyRows]:
    height = memory.table("writers").rows.height
    unseen, first, index = np.unique(author[author >= height], return_index=True, return_inverse=True)
    if not unseen.size:
        return author, _NOBODY
    order = np.argsort(first)  # new writers are ordered by their first admitted claim
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    rows = author.copy()
    rows[author >= height] = height + rank[index]
    new = np.flatnonzero(author >= height)[first[order]]
    zeros = np.zeros(len(new), dtype=np.int64)
    record = {"claims": zeros, "contradicted": zeros, "calibration": np.ones(len(new))}
    columns = {name: claims.column(name)[new] for name in ("rep", "writer")}
    return rows, LazyRows(len(new), at_hand=columns | record, kinds=schema.WRITERS)


_NOBODY = LazyRows.of(pl.DataFrame(schema=schema.WRITERS))


def _superseded(memory: Memory, demotions: Demotions, row_of: Callable[[Ints], Ints]) -> Memory:
    new, old = map(row_of, demotions.lines)
    cells, index = np.unique(np.concatenate([new, old]), return_inverse=True)
    version, newer, older = memory.values("version", cells), index[: len(new)], index[len(new) :]
    for _ in range(len(new)):  # at most one pass per link of the longest chain in the batch
        risen = version[older] + 1
        if (risen <= version[newer]).all():
            break
        np.maximum.at(version, newer, risen)
    memory = memory.changed(cells, {"version": version})
    return memory.changed(row_of(demotions.old), {"status": "superseded", "successor": row_of(demotions.new)})


_ACTIVE, _ANNEXED = (schema.STATUS.index(word) for word in ("active", "annexed"))
_CAPITAL = re.compile("[A-Z]")  # a capital letter makes a handle immutable, see `texts.is_immutable`
_LISTS = ("topics", "entities", "source_refs")
_SHARES = {"uncertainty": 0.7, "concern": 0.3}  # defaults, as fractions of 1 − stated
_AT_HAND = ("rep", "object", "reverify", "locked", "pinned", "requires_review")


def new_cells(
    claims: LazyRows, names: LazyRows, *, author: Ints, factor: NDArray[np.float64], live: Bools, rules: Rules
) -> LazyRows:
    """Return the new cells of checked claims (columns of `schema.CELLS`), with effective = stated · calibration."""
    count, stated, seed = claims.height, claims.column("stated"), np.full(claims.height, rules.salience_seed)
    immutable = np.zeros(count, dtype=bool)  # generated handles have no capital letter, so they are not immutable
    if claims.has_values("handle"):
        immutable = np.array([_CAPITAL.search(handle) is not None for handle in names.column("handle").tolist()], dtype=bool)
    numbers: dict[str, NDArray[Any]] = {
        **{name: claims.column(name) for name in _AT_HAND},
        **({"content": claims.column("content")} if "content" in claims.at_hand else {}),
        **{name: claims.column(f"{name}_word") for name in ("stability", "verification", "origin")},
        "immutable": immutable,
        "author": author,
        "claimed": claims.column("confidence"),
        "stated": stated,
        "calibration": factor,
        "effective": np.clip(stated * factor, 0.0, 1.0),
        **dict.fromkeys(("support_mass", "challenge_mass"), np.zeros(count)),
        "worth": np.full(count, np.nan),
        **dict.fromkeys(("c0", "currency"), np.ones(count)),
        **dict.fromkeys(("salience_seed", "salience"), seed),
        "status": np.where(live, _ACTIVE, _ANNEXED),
        "version": np.ones(count, dtype=np.int64),
        "successor": np.full(count, NONE),
        **dict.fromkeys(("read", "rejected"), np.full(count, np.nan)),
        **dict.fromkeys(("created", "touched"), claims.column("t")),
    }
    make, series = partial(_cell_column, claims, names), partial(_cell_series, claims)
    return LazyRows(count, None, dict(numbers), make=make, kinds=schema.CELLS, series=series)


def _cell_column(claims: LazyRows, names: LazyRows, name: str) -> NDArray[Any]:
    """Compute a column of the new cells that is not needed to admit them."""
    if name in ("key", "handle"):
        return names.column(name)
    if name in _SHARES:
        value = claims.column(name)
        return np.where(np.isnan(value), thousandths((1.0 - claims.column("stated")) * _SHARES[name]), value)
    if name == "source_quality":
        return source_quality(claims.column("stated"))
    if name == "tombstone":
        return np.full(claims.height, None, dtype=object)
    if name in _LISTS:
        return lists([] if items is None else items for items in claims.column(name).tolist())
    return claims.column(f"{name}_word" if name in schema.WORDS else name)


def _cell_series(claims: LazyRows, name: str) -> pl.Series | None:
    column = f"{name}_word" if name in schema.WORDS else name
    if not isinstance(claims.source, pl.DataFrame) or column not in claims.source.columns:
        return None
    series = claims.source[column]
    return None if name in ("key", "handle", *_SHARES) or (name in _LISTS and series.null_count()) else series


def source_quality(stated: Array) -> Array:
    """Return the source quality for a stated confidence: 1 from 0.8 upwards, 0.66 from 0.5 upwards, and 0.33 below.

    >>> source_quality(np.array([0.8, 0.5, 0.49])).tolist()
    [1.0, 0.66, 0.33]
    """
    return np.where(stated >= 0.8, 1.0, np.where(stated >= 0.5, 0.66, 0.33))  # noqa: PLR2004  # the published steps


def thousandths(value: Array) -> Array:
    """Round to three decimals, with halves rounded up, as in the reference implementation."""
    nearest: Array = np.floor(value * 1000.0 + 0.5) / 1000.0
    return nearest
