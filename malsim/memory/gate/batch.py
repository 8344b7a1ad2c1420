"""Batch of checked claims, encoded as integer columns and ready to be resolved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory.graph.frames import lists
from malsim.memory.graph.texts import fold_titles, folded
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from malsim.memory.gate.claims import Validated
    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.memory.graph.claim_graph import Memory
    from malsim.memory.graph.frames import LazyRows
    from malsim.memory.rules import Rules


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Batch of claims in gate order, with their edges.

    An id is the row of an existing cell, or `cells` + the index of a claim. For each claim: `sound` means without issues;
    `group` is the first claim with which it is compared, `content` the first with equal content; `restated` is the active
    cell with equal content, `compared` the cell with which it is compared, `owner` the cell that has its handle or key
    (NONE if there is none); `fresh` claims become active cells; `handle_name` and `key_name` number the `names` in the
    batch. For each edge: its `claim`, the `code` of its relation, and its target as `target_row` of an existing cell and as
    `target_name`. `writer` is the row of each claim's writer; new writers follow in order of appearance. For each writer,
    `factor` is the calibration factor, and `grounded` means enough outcomes for calibration.
    """

    memory: Memory
    rules: Rules
    cells: int
    sound: Bools
    group: Ints
    content: Ints
    restated: Ints
    compared: Ints
    owner: Ints
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
    writer: Ints
    factor: Array
    grounded: Bools

    def is_locked(self, target: Ints) -> Bools:
        if self.rules.locks == "display":
            return np.zeros(len(target), dtype=bool)
        flags = (self.memory.column(name) for name in ("locked", "immutable"))
        locked: Bools = np.logical_or(*(self.pick(target, flag, self.marked) for flag in flags))
        return locked

    def is_active(self, target: Ints) -> Bools:
        inactive: Bools = self.pick(target, ~self.memory.is_active, ~self.fresh)
        return ~inactive

    def author(self, target: Ints) -> Ints:
        author: Ints = self.pick(target, self.memory.column("author"), self.writer)
        return author

    def may_supersede(self, target: Ints) -> Bools:
        if self.rules.supersede_by == "any":
            return np.ones(len(target), dtype=bool)
        writer, author = self.writer[self.claim], self.author(target)
        same: Bools = writer == author
        if self.rules.supersede_by == "own":
            return same
        better: Bools = self.grounded[writer] & (self.factor[writer] > self.factor[author])
        return same | better

    def pick(self, ids: Ints, cells: NDArray[Any], claims: NDArray[Any]) -> NDArray[Any]:
        """Return one value per id: from `cells` for ids below `self.cells`, from `claims` for larger ids, and 0 for NONE."""
        of_claims, of_cells = ids >= self.cells, (ids != NONE) & (ids < self.cells)
        values = np.zeros(len(ids), dtype=claims.dtype)
        values[of_claims], values[of_cells] = claims[ids[of_claims] - self.cells], cells[ids[of_cells]]
        return values


def number(memory: Memory, checked: Validated, rules: Rules, factors: Mapping[str, float]) -> Batch:
    """Encode checked claims as integer columns, with ids for contents, names, targets and writers."""
    claims, edges = checked.claims, checked.edges
    sound = np.ones(claims.height, dtype=bool)
    sound[[claim for claim, _, _ in checked.issues]] = False
    first_only = rules.restated_among == "first"
    content = np.arange(claims.height)
    if claims.height > 1 and not checked.new and not all_differ(claims.column("content")):
        content = _ids(claims, "rep", "kind", "folded", "body")  # claims are compared only if two hashes agree
    handle_name, key_name, target_name, names = _names(claims, edges)
    restated, compared = _first_of_title(memory, claims.frame()) if first_only else _restated(memory, checked)
    target_row, by_handle = edges.column("row"), np.zeros(edges.height, dtype=bool)
    if edges.height:
        target_row, by_handle = _targets(memory, checked, rules)
    owner = np.full(claims.height, NONE)
    if rules.reused_keys == "refused" and names and memory.height:
        owner = np.maximum(*(look_up(memory, claims.column("rep"), claims.column(name)) for name in ("key", "handle")))
    return Batch(
        memory=memory, rules=rules, cells=memory.height, sound=sound, content=content, restated=restated, compared=compared,
        group=_ids(claims, "rep", "kind", "folded") if first_only else content, owner=owner,
        fresh=~claims.column("annexed") | (rules.locks == "display"), marked=claims.column("marked"),
        handle_name=handle_name, key_name=key_name, names=names, claim=edges.column("claim"), code=edges.column("code"),
        target_row=target_row, target_name=target_name, by_handle=by_handle,
        **_writers(memory, claims, factors, rules),
    )  # fmt: skip


def all_differ(numbers: Ints) -> bool:
    values = np.sort(numbers)
    return not bool((values[1:] == values[:-1]).any())


def look_up(memory: Memory, reps: NDArray[Any] | pl.Series, names: NDArray[Any] | pl.Series) -> Ints:
    """Return the row of the cell with each name as its key or, failing that, as its handle; NONE if there is none."""
    texts: list[str | None] = [*names]
    if not memory.height or not any(name is not None for name in texts):
        return np.full(len(texts), NONE, dtype=np.int64)
    return memory.index.rows([*reps], texts, height=memory.height)


def _targets(memory: Memory, checked: Validated, rules: Rules) -> tuple[Ints, Bools]:
    """Return the row of each edge's target cell (NONE if it does not exist yet), and a mask of the edges that name a handle.

    The mask is computed only if the rules treat handles and keys differently.
    """
    rows: Ints = checked.edges.column("row")
    by_handle = np.zeros(len(rows), dtype=bool)
    unknown = np.flatnonzero(rows == NONE)
    if unknown.size:
        claim = checked.edges.column("claim")[unknown]
        rows = rows.copy()
        rows[unknown] = look_up(memory, checked.claims.column("rep")[claim], checked.edges.column("target")[unknown])
    if len(rows) and rules.handle_evidence != "resolved":
        keys = pl.concat([memory.cells["key"], checked.claims.frame()["key"]]).drop_nulls().unique()
        by_handle = ~checked.edges.frame()["target"].is_in(keys.implode()).fill_null(value=False).to_numpy()
    return rows, by_handle


def look_up_keys(memory: Memory, reps: pl.Series, keys: pl.Series) -> Ints:
    """Return the row of the cell with each key, and NONE for unknown keys."""
    rows = look_up(memory, reps, keys)
    key = memory.cells["key"].gather(pl.Series(rows).set(pl.Series(rows == NONE), None))
    return np.where((key == keys).fill_null(value=False).to_numpy(), rows, NONE)


def _ids(claims: LazyRows, *names: str) -> Ints:
    """Return, for each row, the index of the first row that equals it in the named columns."""
    first = dict[tuple[Any, ...], int]()
    rows = zip(*(claims.column(name).tolist() for name in names), strict=True)
    return np.array([first.setdefault(row, index) for index, row in enumerate(rows)], dtype=np.int64)


def _names(claims: LazyRows, edges: LazyRows) -> tuple[Ints, Ints, Ints, int]:
    """Return integer ids of handles, keys and edge targets (NONE if missing), and the number of distinct names."""
    if not (claims.has_values("handle") or claims.has_values("key")):
        return np.full(claims.height, NONE), np.full(claims.height, NONE), np.full(edges.height, NONE), 0
    first = dict[tuple[int, str], int]()
    rep = claims.column("rep")
    named = [(rep, claims.column(name)) for name in ("handle", "key")]

    def numbers(reps: Ints, names: NDArray[Any]) -> Ints:
        pairs = zip(reps.tolist(), names.tolist(), strict=True)
        return np.array([NONE if pair[1] is None else first.setdefault(pair, len(first)) for pair in pairs], dtype=np.int64)

    handle, key, target_name = (
        numbers(reps, names) for reps, names in (*named, (rep[edges.column("claim")], edges.column("target")))
    )
    return handle, key, target_name, len(first)


def _restated(memory: Memory, checked: Validated) -> tuple[Ints, Ints]:
    """Return the active cell that each claim restates (NONE if none), twice, to match the result of `_first_of_title`."""
    claims, restated = checked.claims, np.full(checked.claims.height, NONE, dtype=np.int64)
    if checked.new or not memory.height:
        return restated, restated
    candidates = memory.index.with_content(claims.column("content").tolist(), height=memory.height)
    if not candidates:
        return restated, restated
    index, row = np.array(candidates).T
    same = memory.is_active[row]
    for name in ("rep", "body"):
        same &= memory.values(name, row) == claims.column(name)[index]
    same &= memory.values("kind", row) == claims.column("kind_word")[index]
    same &= lists(fold_titles(memory.values("title", row).tolist())) == claims.column("folded")[index]
    restated[index[same][::-1]] = row[same][::-1]  # reversed, so that the first of several matching cells wins
    return restated, restated


def _first_of_title(memory: Memory, claims: pl.DataFrame) -> tuple[Ints, Ints]:
    """Return two cells per claim: the first active cell with its title and body, and the first with its title."""
    title = folded(pl.col("title")).alias("folded")
    cells = memory.cells.select("rep", pl.col("kind").cast(pl.String), title, "body", "status")
    same = ["rep", "kind", "folded"]
    active = cells.with_columns(pl.int_range(pl.len()).alias("row")).filter(pl.col("status") == "active")
    first = active.unique(same, keep="first", maintain_order=True)
    compared = claims.select(*same, "body").join(first, on=same, how="left", maintain_order="left")
    rows = compared["row"].fill_null(NONE).to_numpy()
    same_body = (compared["body"] == compared["body_right"]).fill_null(value=False).to_numpy()
    return np.where(same_body, rows, NONE), rows


def _writers(memory: Memory, claims: LazyRows, factors: Mapping[str, float], rules: Rules) -> dict[str, Any]:
    writers = memory.table("writers")
    height = writers.rows.height
    author = claims.column("author").copy() if "author" in claims.at_hand else np.full(claims.height, NONE)
    if (unknown := np.flatnonzero(author == NONE)).size:
        reps, names = (claims.column(name)[unknown].tolist() for name in ("rep", "writer"))
        author[unknown] = memory.index.authors(reps, names, height=height)
    new = max(int(author.max(initial=NONE)) + 1 - height, 0)
    factor = np.concatenate([writers.column("calibration"), np.ones(new)])
    outcomes = np.concatenate([writers.column("claims"), np.zeros(new, dtype=np.int64)])
    if factors:
        given = np.array([factors.get(writer) for writer in claims.column("writer").tolist()], dtype=np.float64)
        factor[author] = np.where(np.isnan(given), factor[author], given)
    return {"writer": author, "factor": factor, "grounded": outcomes >= rules.calibration_history}
