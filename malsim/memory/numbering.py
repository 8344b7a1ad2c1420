"""A checked batch of claims as numbers, ready to be resolved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from malsim.memory.handles import is_immutable
from malsim.memory.relations import NONE

if TYPE_CHECKING:
    from malsim.memory.cells import Memory
    from malsim.memory.rules import Rules
    from malsim.memory.validation import Validated

__all__ = ["Authors", "Batch", "Bools", "Ints", "content_of", "look_up", "number"]

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Authors:
    """Who wrote what: rows of the writers frame, new writers past its end in order of appearance."""

    of_claims: Ints
    of_cells: Ints
    factor: NDArray[np.float64]
    grounded: Bools  # has enough outcomes for the factor to mean something


@dataclass(frozen=True, kw_only=True)
class Batch:
    """A batch as numbers; claims in the order of the gate, edges in the order of claims and places.

    `group` numbers the claims that are compared with each other and `content` those that say the same, both by the first
    claim of their kind; `standing` is the active cell a claim restates, `taken` the one that already bears its name, NONE
    for none; `fresh` claims become active cells. Names that claims of the batch bear are numbered too; `target_row` is the
    standing cell an edge names.
    """

    cells: int
    sound: Bools
    group: Ints
    content: Ints
    standing: Ints
    taken: Ints
    fresh: Bools
    handle_name: Ints
    key_name: Ints
    names: int
    claim: Ints
    relation: NDArray[np.object_]
    target_row: Ints
    target_name: Ints
    by_handle: Bools
    locked: Bools
    locked_cells: Bools
    authors: Authors
    supersede_by: str
    names_are_unique: bool
    refuse_self: bool
    refuse_repeats: bool

    def is_locked(self, target: Ints) -> Bools:
        """Which ids are locked or immutable."""
        locked: Bools = self._pick(target, self.locked_cells, self.locked)
        return locked

    def may_supersede(self, target: Ints) -> Bools:
        """Which edges come from a writer whom the rules let supersede the cell they name."""
        authors = self.authors
        if self.supersede_by == "any":
            return np.ones(len(target), dtype=bool)
        writer, judged = authors.of_claims[self.claim], self._pick(target, authors.of_cells, authors.of_claims)
        own: Bools = writer == judged
        if self.supersede_by == "own":
            return own
        better: Bools = authors.grounded[writer] & (authors.factor[writer] > authors.factor[judged])
        return own | better

    def _pick(self, ids: Ints, standing: NDArray[Any], batch: NDArray[Any]) -> NDArray[Any]:
        both = np.concatenate([standing, batch])
        return both[ids] if len(both) else np.zeros(len(ids), dtype=both.dtype)


def number(memory: Memory, checked: Validated, sound: Bools, factor: NDArray[np.float64], rules: Rules) -> Batch:
    """Number the contents, names, authors and targets of a batch."""
    claims, edges = checked.claims, checked.edges
    text = claims.select("rep", "kind", folded(pl.col("title")).alias("title"), "body")
    first_only = rules.restated_among == "first"
    content = _ids(text)
    handle_name, key_name, target_name, names = _names(claims, edges)
    claim = edges["claim"].to_numpy().astype(np.int64)
    reps = claims["rep"]
    unique = rules.reused_keys == "refused"
    taken = np.full(claims.height, NONE)
    if unique and names:
        taken = np.maximum(look_up(memory, reps, claims["key"]), look_up(memory, reps, claims["handle"]))
    locks = rules.locks == "enforced"
    return Batch(
        cells=memory.cells.height,
        sound=sound,
        group=_ids(text.drop("body")) if first_only else content,
        content=content,
        standing=_standing(memory, text, first_only=first_only),
        taken=taken,
        fresh=~claims["annexed"].to_numpy() | (rules.locks == "display"),
        handle_name=handle_name,
        key_name=key_name,
        names=names,
        claim=claim,
        relation=edges["relation"].to_numpy(),
        target_row=look_up(memory, reps.gather(edges["claim"]), edges["target"]),
        target_name=target_name,
        by_handle=_by_handle(memory, claims, edges, rules),
        locked=_locked(claims, locks=locks),
        locked_cells=_locked(memory.cells, locks=locks),
        authors=_authors(memory, claims, factor, rules),
        supersede_by=rules.supersede_by,
        names_are_unique=unique,
        refuse_self=rules.self_edges == "refused",
        refuse_repeats=rules.duplicate_edges == "refused",
    )


def folded(title: pl.Expr) -> pl.Expr:
    """A title with case and white space folded."""
    return title.str.strip_chars().str.to_lowercase().str.replace_all(r"\s+", " ")


def content_of(text: pl.DataFrame) -> pl.Series:
    """A hash of replication, kind and folded title; bodies decide where two of them meet."""
    return text.select(pl.struct("rep", pl.col("kind").cast(pl.String), "title").hash().alias("content")).to_series()


def look_up(memory: Memory, reps: pl.Series, names: pl.Series) -> Ints:
    """The row of the cell that bears each name as its handle or, first, its key; NONE where none does."""
    rows = np.full(len(names), NONE, dtype=np.int64)
    if memory.cells.is_empty() or names.null_count() == len(names):
        return rows
    wanted = pl.DataFrame({"rep": reps, "name": names}).with_row_index("place").drop_nulls("name")
    unique = wanted["name"].unique().implode()
    for column in ("handle", "key"):
        row = pl.Series("row", np.flatnonzero(memory.cells[column].is_in(unique).fill_null(value=False).to_numpy()))
        held = pl.DataFrame([row, memory.cells["rep"].gather(row), memory.cells[column].gather(row).alias("name")])
        found = wanted.join(held.unique(["rep", "name"], keep="first", maintain_order=True), on=["rep", "name"])
        rows[found["place"].to_numpy()] = found["row"].to_numpy()
    return rows


def _ids(frame: pl.DataFrame) -> Ints:
    """Each row's first equal row."""
    numbered = frame.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias("first"))
    return numbered.select(pl.col("first").first().over(frame.columns)).to_series().to_numpy()


def _names(claims: pl.DataFrame, edges: pl.DataFrame) -> tuple[Ints, Ints, Ints, int]:
    """Numbers of the names that claims bear (handles, keys) and edges use; NONE for no name, or one no claim bears."""
    none = [np.full(claims.height, NONE), np.full(claims.height, NONE), np.full(edges.height, NONE)]
    if claims["handle"].null_count() == claims.height and claims["key"].null_count() == claims.height:
        return none[0], none[1], none[2], 0
    columns = (claims["handle"], claims["key"], edges["target"])
    reps = (claims["rep"], claims["rep"], claims["rep"].gather(edges["claim"]))
    stacked = pl.concat([pl.DataFrame([r.alias("rep"), c.alias("name")]) for r, c in zip(reps, columns, strict=True)])
    ids = np.where(stacked["name"].is_null().to_numpy(), NONE, _ids(stacked))
    handle, key, target = np.split(ids, [claims.height, 2 * claims.height])
    return handle, key, target, len(ids)


def _standing(memory: Memory, text: pl.DataFrame, *, first_only: bool) -> Ints:
    """The first active cell that says the same as each claim, NONE where there is none."""
    standing = np.full(text.height, NONE, dtype=np.int64)
    hashed = content_of(text)
    cells = memory.cells
    near = cells["content"].is_in(hashed.unique().implode()) if cells.height else pl.Series([], dtype=pl.Boolean)
    if not near.any():
        return standing
    row = pl.Series("row", np.flatnonzero((near & (cells["status"] == "active")).to_numpy()))
    held = cells.select("rep", "kind", "title", "body").select(pl.all().gather(row)).with_columns(row)
    held = held.with_columns(pl.col("kind").cast(pl.String), folded(pl.col("title")).alias("title"))
    same = ["rep", "kind", "title"]
    if first_only:
        held = held.unique(same, keep="first", maintain_order=True)
    held = held.unique([*same, "body"], keep="first", maintain_order=True)
    found = text.with_row_index("place").join(held, on=[*same, "body"])
    standing[found["place"].to_numpy()] = found["row"].to_numpy()
    return standing


def _by_handle(memory: Memory, claims: pl.DataFrame, edges: pl.DataFrame, rules: Rules) -> Bools:
    """Which edges name their target by its handle; told only where the rules make a difference."""
    if rules.handle_evidence == "resolved" or edges.is_empty():
        return np.zeros(edges.height, dtype=bool)
    keys = pl.concat([memory.cells["key"], claims["key"]]).drop_nulls().unique()
    return ~edges["target"].is_in(keys.implode()).fill_null(value=False).to_numpy()


def _locked(frame: pl.DataFrame, *, locks: bool) -> Bools:
    if not locks:
        return np.zeros(frame.height, dtype=bool)
    marked = pl.col("immutable") if "immutable" in frame.columns else is_immutable(pl.col("handle")).fill_null(value=False)
    return frame.select(pl.col("locked") | marked).to_series().to_numpy()


def _authors(memory: Memory, claims: pl.DataFrame, factor: NDArray[np.float64], rules: Rules) -> Authors:
    """Rows of the claims' writers, new ones numbered past the end."""
    known = memory.writers.select("rep", "writer").with_row_index("author")
    who = claims.select("rep", "writer").join(known, on=["rep", "writer"], how="left", maintain_order="left")
    author = who["author"].cast(pl.Int64).fill_null(NONE).to_numpy().copy()
    new = author == NONE
    first = _ids(who.select("rep", "writer").filter(pl.Series(new)))
    starts, places = np.unique(first, return_inverse=True)
    author[new] = known.height + places
    factors = np.concatenate([memory.writers["calibration"].to_numpy(), np.ones(len(starts))])
    factors[author] = factor
    outcomes = np.concatenate([memory.writers["claims"].to_numpy(), np.zeros(len(starts), dtype=np.int64)])
    return Authors(
        author, memory.cells["author"].to_numpy().astype(np.int64), factors, outcomes >= rules.calibration_history
    )
