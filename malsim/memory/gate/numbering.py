"""A checked batch of claims as numbers, ready to be resolved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from malsim.memory.graph.frames import places
from malsim.memory.graph.texts import folded
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.memory.gate.claims import Validated
    from malsim.memory.graph.claim_graph import Memory
    from malsim.memory.graph.frames import LazyRows
    from malsim.memory.rules import Rules

__all__ = ["Authors", "Batch", "Bools", "Ints", "all_differ", "authors_of", "look_up", "look_up_keys", "number"]

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Authors:
    """Who wrote what: rows of the writers frame, new writers past its end in order of appearance."""

    of_claims: Ints
    factor: NDArray[np.float64]
    grounded: Bools  # has enough outcomes for the factor to mean something


@dataclass(frozen=True, kw_only=True)
class Batch:
    """A batch as numbers; claims in the order of the gate, edges in the order of claims and places.

    `group` numbers the claims that are compared with each other and `content` those that say the same, both by the first
    claim of their kind; `standing` is the active cell a claim restates, `alike` the one it is compared with, `taken` the one
    that already bears its name, NONE for none; `fresh` claims become active cells. Names that claims of the batch bear are
    numbered too; `target_row` is the standing cell an edge names, `code` its relation.
    """

    memory: Memory
    rules: Rules
    cells: int
    sound: Bools
    group: Ints
    content: Ints
    standing: Ints
    alike: Ints
    taken: Ints
    fresh: Bools
    marked: Bools
    handle_name: Ints
    key_name: Ints
    names: int
    claim: Ints
    code: Ints
    target_row: Ints
    target_name: Ints
    by_handle: Bools
    authors: Authors

    def is_locked(self, target: Ints) -> Bools:
        """Which ids are locked or immutable, where the rules keep locks."""
        if self.rules.locks == "display":
            return np.zeros(len(target), dtype=bool)
        standing = (self.memory.column(name) for name in ("locked", "immutable"))
        locked: Bools = np.logical_or(*(self.pick(target, held, self.marked) for held in standing))
        return locked

    def is_active(self, target: Ints) -> Bools:
        """Which ids are active before the batch's own demotions."""
        idle: Bools = self.pick(target, ~self.memory.is_active, ~self.fresh)
        return ~idle

    def author(self, target: Ints) -> Ints:
        """The row of the writer of each id."""
        author: Ints = self.pick(target, self.memory.column("author"), self.authors.of_claims)
        return author

    def may_supersede(self, target: Ints) -> Bools:
        """Which edges come from a writer whom the rules let supersede the cell they name."""
        if self.rules.supersede_by == "any":
            return np.ones(len(target), dtype=bool)
        authors, writer, judged = self.authors, self.authors.of_claims[self.claim], self.author(target)
        own: Bools = writer == judged
        if self.rules.supersede_by == "own":
            return own
        better: Bools = authors.grounded[writer] & (authors.factor[writer] > authors.factor[judged])
        return own | better

    def pick(self, ids: Ints, standing: NDArray[Any], batch: NDArray[Any]) -> NDArray[Any]:
        """A value of each id, from those of the cells that stand and of the batch; 0 for NONE."""
        of_batch, stands = ids >= self.cells, (ids != NONE) & (ids < self.cells)
        picked = np.zeros(len(ids), dtype=batch.dtype)
        picked[of_batch], picked[stands] = batch[ids[of_batch] - self.cells], standing[ids[stands]]
        return picked


def number(memory: Memory, checked: Validated, rules: Rules, factors: Mapping[str, float]) -> Batch:
    """Number the contents, names, targets and writers of a batch; `factors` as of `authors_of`."""
    told, linked = checked.claims, checked.edges
    sound = np.ones(told.height, dtype=bool)
    sound[checked.issues["claim"].to_numpy()] = False
    first_only = rules.restated_among == "first"
    content = np.arange(told.height)
    if told.height > 1 and not checked.new and not all_differ(told.column("content")):
        content = _ids(told.frame().select("rep", "kind", "folded", "body"))  # text is compared only where hashes meet
    handle_name, key_name, target_name, names = _names(told, linked)
    standing, alike = _standing_of_title(memory, checked.claims.frame()) if first_only else _standing(memory, checked)
    target_row, by_handle = linked.column("row"), np.zeros(linked.height, dtype=bool)
    if linked.height:
        target_row, by_handle = _targets(memory, checked, rules)
    taken = np.full(told.height, NONE)
    if rules.reused_keys == "refused" and names and memory.height:
        claims = checked.claims.frame()
        taken = np.maximum(look_up(memory, claims["rep"], claims["key"]), look_up(memory, claims["rep"], claims["handle"]))
    return Batch(
        memory=memory,
        rules=rules,
        cells=memory.height,
        sound=sound,
        group=_ids(checked.claims.frame().select("rep", "kind", "folded")) if first_only else content,
        content=content,
        standing=standing,
        alike=alike,
        taken=taken,
        fresh=~told.column("annexed") | (rules.locks == "display"),
        marked=told.column("marked"),
        handle_name=handle_name,
        key_name=key_name,
        names=names,
        claim=linked.column("claim"),
        code=linked.column("code"),
        target_row=target_row,
        target_name=target_name,
        by_handle=by_handle,
        authors=authors_of(memory, told, factors, rules),
    )


def all_differ(numbers: Ints) -> bool:
    """Whether no two numbers are alike; by sorting, for a few numbers the fastest way."""
    ordered = np.sort(numbers)
    return not bool((ordered[1:] == ordered[:-1]).any())


def look_up(memory: Memory, reps: pl.Series, names: pl.Series) -> Ints:
    """The row of the cell that bears each name as its key or else its handle; NONE where none does."""
    if not memory.height or names.null_count() == len(names):
        return np.full(len(names), NONE, dtype=np.int64)
    return memory.index.rows(reps.to_list(), names.to_list(), height=memory.height)


def _targets(memory: Memory, checked: Validated, rules: Rules) -> tuple[Ints, Bools]:
    """The row of the standing cell that each edge means or names, NONE where none does; and which do by its handle.

    Whether by its handle is told only where the rules make a difference.
    """
    rows: Ints = checked.edges.column("row")
    by_handle = np.zeros(len(rows), dtype=bool)
    unknown = np.flatnonzero(rows == NONE)
    if unknown.size:
        claims, edges, named = checked.claims.frame(), checked.edges.frame(), places(unknown)
        rows = rows.copy()
        rows[unknown] = look_up(memory, claims["rep"][edges["claim"][named]], edges["target"][named])
    if len(rows) and rules.handle_evidence != "resolved":
        keys = pl.concat([memory.cells["key"], checked.claims.frame()["key"]]).drop_nulls().unique()
        by_handle = ~checked.edges.frame()["target"].is_in(keys.implode()).fill_null(value=False).to_numpy()
    return rows, by_handle


def look_up_keys(memory: Memory, reps: pl.Series, keys: pl.Series) -> Ints:
    """The row of the cell that bears each key as its key; NONE where none does."""
    rows = look_up(memory, reps, keys)
    held = memory.cells["key"].gather(pl.Series(rows).set(pl.Series(rows == NONE), None))
    return np.where((held == keys).fill_null(value=False).to_numpy(), rows, NONE)


def _ids(frame: pl.DataFrame) -> Ints:
    """Each row's first equal row."""
    numbered = frame.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias("first"))
    return numbered.select(pl.col("first").first().over(frame.columns)).to_series().to_numpy()


def _names(told: LazyRows, linked: LazyRows) -> tuple[Ints, Ints, Ints, int]:
    """Numbers of the names that claims bear (handles, keys) and edges use; NONE for no name, or one no claim bears."""
    if not (told.tells("handle") or told.tells("key")):
        return np.full(told.height, NONE), np.full(told.height, NONE), np.full(linked.height, NONE), 0
    claims, edges = told.frame(), linked.frame()
    columns = (claims["handle"], claims["key"], edges["target"])
    reps = (claims["rep"], claims["rep"], claims["rep"].gather(edges["claim"]))
    stacked = pl.concat([pl.DataFrame([r.alias("rep"), c.alias("name")]) for r, c in zip(reps, columns, strict=True)])
    ids = np.where(stacked["name"].is_null().to_numpy(), NONE, _ids(stacked))
    handle, key, target = np.split(ids, [claims.height, 2 * claims.height])
    return handle, key, target, len(ids)


def _standing(memory: Memory, checked: Validated) -> tuple[Ints, Ints]:
    """The first active cell that says the same as each claim, NONE where there is none; twice, as it is what is compared."""
    told, standing = checked.claims, np.full(checked.claims.height, NONE, dtype=np.int64)
    if checked.new or not memory.height:
        return standing, standing
    near = memory.index.alike(told.column("content").tolist(), height=memory.height)
    if not near:
        return standing, standing
    place, row = (pl.Series(part, dtype=pl.Int64) for part in zip(*near, strict=True))
    cells = memory.cells.select(pl.col("rep", "status", "title", "body", "kind").gather(row))
    ours = told.frame().select(pl.col("rep", "folded", "body", "kind").gather(place))
    same = (cells["rep"] == ours["rep"]) & (cells["body"] == ours["body"]) & (cells["kind"].cast(pl.String) == ours["kind"])
    same &= cells.select(folded(pl.col("title"))).to_series() == ours["folded"]
    same &= cells["status"] == "active"
    found = np.flatnonzero(same.fill_null(value=False).to_numpy())[::-1]  # the first of several is written last
    standing[place.to_numpy()[found]] = row.to_numpy()[found]
    return standing, standing


def _standing_of_title(memory: Memory, claims: pl.DataFrame) -> tuple[Ints, Ints]:
    """As `_standing`, but only the first active cell of a title is compared, as the reference does; and that cell."""
    title = folded(pl.col("title")).alias("folded")
    cells = memory.cells.select("rep", pl.col("kind").cast(pl.String), title, "body", "status")
    same = ["rep", "kind", "folded"]
    held = cells.with_columns(pl.int_range(pl.len()).alias("row")).filter(pl.col("status") == "active")
    first = held.unique(same, keep="first", maintain_order=True)
    found = claims.select(*same, "body").join(first, on=same, how="left", maintain_order="left")
    alike = found["row"].fill_null(NONE).to_numpy()
    says = (found["body"] == found["body_right"]).fill_null(value=False).to_numpy()
    return np.where(says, alike, NONE), alike


def authors_of(memory: Memory, told: LazyRows, factors: Mapping[str, float], rules: Rules) -> Authors:
    """Rows and factors of the claims' writers: as of the last tick, given by `factors`, or 1 for a new one."""
    writers = memory.table("writers")
    known = writers.rows.height
    author = told.column("author").copy() if "author" in told.at_hand else np.full(told.height, NONE)
    if (unknown := np.flatnonzero(author == NONE)).size:
        reps, names = (told.column(name)[unknown].tolist() for name in ("rep", "writer"))
        author[unknown] = memory.index.authors(reps, names, height=known)
    new = max(int(author.max(initial=NONE)) + 1 - known, 0)
    factor = np.concatenate([writers.column("calibration"), np.ones(new)])
    outcomes = np.concatenate([writers.column("claims"), np.zeros(new, dtype=np.int64)])
    if factors:
        given = told.frame()["writer"].replace_strict(factors, default=None, return_dtype=pl.Float64)
        factor[author] = given.fill_null(pl.Series(factor[author])).to_numpy()
    return Authors(author, factor, outcomes >= rules.calibration_history)
