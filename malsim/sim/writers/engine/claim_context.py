"""Interface of writers' behaviours: the claims that are due, what their writers observe and are shown, and the drafts."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.sim.world.draws import Draws


LEAST_STATED = 0.01


@dataclass(frozen=True)
class ShownRows:
    """Rows about the claimed fact that each claim's writer was shown, best first, shape (claims, lines). NONE means no row.

    `row` is the shown cell, `value` the index of its value among the fact's values, and `effective` the score in its line:
    the memory's belief, or the cell's rank in a memory without belief.
    """

    row: Ints
    value: Ints
    effective: Array

    @classmethod
    def nothing(cls, claims: int) -> ShownRows:
        empty = np.full((claims, 1), NONE, dtype=np.int64)
        return cls(empty, empty, np.zeros((claims, 1)))

    def rows(self, rows: slice | Ints) -> ShownRows:
        return ShownRows(self.row[rows], self.value[rows], self.effective[rows])

    def among(self, claims: int, rows: Ints) -> ShownRows:
        """Return a copy for `claims` claims that has these rows at the indexes in `rows`, and NONE everywhere else."""
        shape = (claims, self.row.shape[1])
        whole = ShownRows(np.full(shape, NONE), np.full(shape, NONE), np.zeros(shape))
        whole.row[rows], whole.value[rows], whole.effective[rows] = self.row, self.value, self.effective
        return whole

    def best(self, mask: Bools) -> Ints:
        """Return, for each claim, the column of the highest score within `mask` (the best-ranked line in a tie), or NONE."""
        worth = np.where(mask & (self.row != NONE), self.effective, -np.inf)
        column = worth.argmax(axis=1)
        return np.where(worth[np.arange(len(column)), column] > -np.inf, column, NONE)

    def pick(self, table: Ints, column: Ints) -> Ints:
        """Return, for each claim, the entry of `table` in the claim's `column`, or NONE if its `column` is NONE."""
        return np.where(column == NONE, NONE, table[np.arange(len(column)), np.maximum(column, 0)])


@dataclass(frozen=True)
class LatestClaims:
    """Earlier claims of the population about each claim's fact, given as row numbers of cells, or NONE.

    `row` and `value` describe the writer's own latest claim; `unsuperseded`, shape (claims, cells), are older claims not
    yet replaced. The other attributes are computed on first use, by `more(name)`.
    """

    row: Ints
    value: Ints
    unsuperseded: Ints
    more: Callable[[str], NDArray[Any]]

    def rows(self, rows: slice | Ints, more: Callable[[str], NDArray[Any]]) -> LatestClaims:
        return LatestClaims(self.row[rows], self.value[rows], self.unsuperseded[rows], more)

    @cached_property
    def first(self) -> Ints:
        """Row of the first claim that any member of the population made about the fact."""
        return self.more("first")

    @cached_property
    def peers(self) -> Ints:
        """Latest claim of each member, shape (claims, members), with NONE for the claim's own writer."""
        return self.more("peers")

    @cached_property
    def again(self) -> Bools:
        """Mask of claims whose writer has already made a claim about the same fact in this turn."""
        return self.more("again")


@dataclass(frozen=True, kw_only=True)
class ClaimContext:
    """Claims that are now due from the members of one population, one per row.

    `rep` is the replication number, `member` the writer's index in the population, `turn` the number of the writer's
    earlier claims, `fact` the index of the fact, and `choices` the number of its values. `state` has the behaviour's
    declared state for each claim's writer, as set by the writer's previous claim. `sense(accuracy, lag=0.0, member=None,
    turn=None)` returns the value that each claim's writer observes in the world as it was `lag` days ago; equal `member`
    and `turn` give the same observation.
    """

    rep: Ints
    member: Ints
    turn: Ints
    fact: Ints
    choices: Ints
    draws: Draws
    sense: Callable[..., Ints]
    push: ShownRows
    latest: LatestClaims
    state: Mapping[str, Array] = field(default_factory=dict)

    def happens(self, share: float, purpose: str) -> Bools:
        """Draw a mask in which each claim is marked with probability `share`."""
        return self.draws.happens(share, purpose, rep=self.rep, member=self.member, turn=self.turn)

    def stated(self, mean: float, noise: float) -> Array:
        """Return a stated confidence for each claim: mean + noise · N(0, 1), clipped to [0.01, 1]."""
        if not noise:
            return np.full(len(self.rep), min(max(mean, LEAST_STATED), 1.0))
        normal = self.draws.normal("stated", rep=self.rep, member=self.member, turn=self.turn)
        return np.minimum(np.maximum(mean + noise * normal, LEAST_STATED), 1.0)

    def another(self, value: Ints, purpose: str = "another") -> Ints:
        """Return a random value for each claim's fact that differs from the given value."""
        shift = 1 + self.draws.below(self.choices - 1, purpose, rep=self.rep, member=self.member, turn=self.turn)
        return (value + shift) % self.choices


@dataclass(frozen=True)
class DraftEdge:
    """Edge from each claim to the cell in `target`, where NONE means no edge."""

    relation: str
    target: Ints
    mutual: bool = False


@dataclass(frozen=True)
class ClaimDraft:
    """Content of drafted claims: values, stated confidences, edges, and a mask of the writers who make a claim.

    `graded` marks claims that judge an earlier claim of their writer: they are of kind `ver`, and the population's habits
    (disputes, supports, revises) add no edges to them. `stale` marks claims to be refused because the cell that their
    writer read has been replaced. `state` is the writer's state after each claim.
    """

    value: Ints
    stated: Array
    edges: tuple[DraftEdge, ...] = ()
    speaks: Bools | None = None
    graded: Bools | None = None
    stale: Bools | None = None
    state: Mapping[str, Array] = field(default_factory=dict)

    def rows(self, rows: Ints) -> ClaimDraft:
        edges = tuple(DraftEdge(edge.relation, edge.target[rows], edge.mutual) for edge in self.edges)
        marks = (self.speaks, self.graded, self.stale)
        speaks, graded, stale = (None if mask is None else mask[rows] for mask in marks)
        return ClaimDraft(self.value[rows], self.stated[rows], edges, speaks, graded, stale)

    @classmethod
    def joined(cls, parts: Sequence[ClaimDraft]) -> ClaimDraft:
        if len(parts) == 1:
            return parts[0]
        ends = list(accumulate(len(part.value) for part in parts))
        edges = [
            DraftEdge(edge.relation, _whole([(end, edge.target)], ends[-1], otherwise=NONE), edge.mutual)
            for part, end in zip(parts, ends, strict=True)
            for edge in part.edges
        ]
        value, stated = (np.concatenate([getattr(part, name) for part in parts]) for name in ("value", "stated"))
        marks = []
        for name, otherwise in (("speaks", True), ("graded", False), ("stale", False)):
            masks = [(end, getattr(part, name)) for end, part in zip(ends, parts, strict=True)]
            some = any(mask is not None for _, mask in masks)
            marks.append(_whole(masks, ends[-1], otherwise=otherwise) if some else None)
        speaks, graded, stale = marks
        return cls(value, stated, tuple(edges), speaks, graded, stale)


def _whole(parts: Iterable[tuple[int, NDArray[Any] | None]], claims: int, *, otherwise: int) -> NDArray[Any]:
    column = np.full(claims, otherwise)
    for end, part in parts:
        if part is not None:
            column[end - len(part) : end] = part
    return column


@dataclass(frozen=True)
class Script:
    """Claims sorted by writer and time. Writer m makes claims `starts[m]` to `starts[m + 1]` − 1."""

    names: tuple[str, ...]
    starts: Ints
    t: Ints
    fact: Ints
    value: Ints
    stated: Array

    @classmethod
    def of(cls, *, writers: pl.Series, t: Ints, fact: Ints, value: Ints, stated: Array) -> Script:
        names, member = np.unique(writers.to_numpy().astype(str), return_inverse=True)
        order = np.lexsort((t, member))
        starts = np.searchsorted(member[order], np.arange(len(names) + 1))
        return cls(tuple(names.tolist()), starts, t[order], fact[order], value[order], stated[order])

    def index(self, member: Ints, turn: Ints) -> Ints:
        """Return the index of each writer's nth claim, or the total number of claims if the writer has fewer."""
        index = self.starts[member] + turn
        return np.where(index < self.starts[member + 1], index, len(self.t))
