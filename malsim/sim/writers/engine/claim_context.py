"""What a behaviour works with: claims about to be made, what their writers can sense and were shown, and what they say."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.sim.world.draws import Draws

LEAST_STATED = 0.01


class Senses(Protocol):
    """How a writer looks at the world: through a sensor of an accuracy, at what stood `lag` days ago."""

    def __call__(self, accuracy: float, *, lag: float = 0.0, member: Ints | None = None, turn: Ints | None = None) -> Ints:
        """The value each claim's writer reads; `member` and `turn` make several writers share one reading."""


@dataclass(frozen=True)
class ShownRows:
    """The rows that the push showed about each claim's fact, best ranked first, shape (claims, lines); NONE for none.

    `row` is the shown cell (what stands for its handle), `value` the place of its value among the fact's, `effective` what
    its line said: the memory's belief, or its rank where it has none.
    """

    row: Ints
    value: Ints
    effective: Array

    @classmethod
    def nothing(cls, claims: int) -> ShownRows:
        """What a writer sees who reads no push."""
        empty = np.full((claims, 1), NONE, dtype=np.int64)
        return cls(empty, empty, np.zeros((claims, 1)))

    def rows(self, here: slice | Ints) -> ShownRows:
        """What some of the claims were shown."""
        return ShownRows(self.row[here], self.value[here], self.effective[here])

    def among(self, claims: int, rows: Ints) -> ShownRows:
        """The same for so many claims, these those at places `rows`; the others were shown nothing."""
        shape = (claims, self.row.shape[1])
        whole = ShownRows(np.full(shape, NONE), np.full(shape, NONE), np.zeros(shape))
        whole.row[rows], whole.value[rows], whole.effective[rows] = self.row, self.value, self.effective
        return whole

    def best(self, which: Bools) -> Ints:
        """The column of the most effective marked row, the better ranked of two equals; NONE where none is marked."""
        worth = np.where(which & (self.row != NONE), self.effective, -np.inf)
        column = worth.argmax(axis=1)
        return np.where(worth[np.arange(len(column)), column] > -np.inf, column, NONE)

    def pick(self, table: Ints, column: Ints) -> Ints:
        """What stands in a column of a table for each claim; NONE where the column is NONE."""
        return np.where(column == NONE, NONE, table[np.arange(len(column)), np.maximum(column, 0)])


@dataclass(frozen=True)
class LatestClaims:
    """What verdicts say of the population's claims: rows of its cells about each claim's fact, NONE where there is none.

    `row` and `value` are the writer's own latest; `unsuperseded` are its earlier ones that nothing replaced yet. What few
    behaviours want is looked up when it is read: `more` gives it by its name.
    """

    row: Ints
    value: Ints
    unsuperseded: Ints
    more: Callable[[str], NDArray[Any]]

    def rows(self, here: slice | Ints, more: Callable[[str], NDArray[Any]]) -> LatestClaims:
        """The same for some of the claims, all of one population."""
        return LatestClaims(self.row[here], self.value[here], self.unsuperseded[here], more)

    @cached_property
    def first(self) -> Ints:
        """The population's first."""
        return self.more("first")

    @cached_property
    def peers(self) -> Ints:
        """Each member's latest, shape (claims, members), without the writer's own."""
        return self.more("peers")

    @cached_property
    def again(self) -> Bools:
        """Where the writer makes another claim about the fact before this one, within the turn."""
        return self.more("again")


@dataclass(frozen=True, kw_only=True)
class ClaimContext:
    """Claims about to be made by members of one population, one row each.

    `rep` is the replication's number, `member` the writer among the population's, `turn` the writer's own count of claims
    before this one, `fact` which fact, and `choices` how many values it has. `state` has what the behaviour declares as its
    own, of each claim's writer as its claim before left it.
    """

    rep: Ints
    member: Ints
    turn: Ints
    fact: Ints
    choices: Ints
    draws: Draws
    sense: Senses
    push: ShownRows
    own: LatestClaims
    state: Mapping[str, Array] = field(default_factory=dict)

    def happens(self, share: float, purpose: str) -> Bools:
        """Whether what has the probability `share` happens at each claim."""
        return self.draws.happens(share, purpose, rep=self.rep, member=self.member, turn=self.turn)

    def stated(self, mean: float, noise: float) -> Array:
        """A stated confidence for each claim: mean + noise · N(0, 1), within 0.01 and 1."""
        if not noise:
            return np.full(len(self.rep), min(max(mean, LEAST_STATED), 1.0))
        normal = self.draws.normal("stated", rep=self.rep, member=self.member, turn=self.turn)
        return np.minimum(np.maximum(mean + noise * normal, LEAST_STATED), 1.0)

    def another(self, value: Ints, purpose: str = "another") -> Ints:
        """One of the other values of each claim's fact, all alike."""
        shift = 1 + self.draws.below(self.choices - 1, purpose, rep=self.rep, member=self.member, turn=self.turn)
        return (value + shift) % self.choices


@dataclass(frozen=True)
class DraftEdge:
    """One edge for each claim, to the cell at `target`; none where that is NONE."""

    relation: str
    target: Ints
    mutual: bool = False


@dataclass(frozen=True)
class ClaimDraft:
    """What the writers say: a value and a confidence a claim, the edges it was their nature to add, and who kept silent.

    `graded` marks claims that judge an own earlier one: they are of kind `ver`, and the population's habits (disputes,
    supports, revises) add no edges to them. `state` is the writers' state after each claim.
    """

    value: Ints
    stated: Array
    edges: tuple[DraftEdge, ...] = ()
    speaks: Bools | None = None
    graded: Bools | None = None
    state: Mapping[str, Array] = field(default_factory=dict)

    def rows(self, rows: Ints) -> ClaimDraft:
        """What is said at some places, without the state."""
        edges = tuple(DraftEdge(edge.relation, edge.target[rows], edge.mutual) for edge in self.edges)
        speaks, graded = (None if mask is None else mask[rows] for mask in (self.speaks, self.graded))
        return ClaimDraft(self.value[rows], self.stated[rows], edges, speaks, graded)

    @classmethod
    def joined(cls, parts: Sequence[ClaimDraft]) -> ClaimDraft:
        """What several populations say, one under the other."""
        if len(parts) == 1:
            return parts[0]
        ends = list(accumulate(len(part.value) for part in parts))
        edges = [
            DraftEdge(edge.relation, _whole([(end, edge.target)], ends[-1], otherwise=NONE), edge.mutual)
            for part, end in zip(parts, ends, strict=True)
            for edge in part.edges
        ]
        value, stated = (np.concatenate([getattr(part, name) for part in parts]) for name in ("value", "stated"))
        speaks, graded = (
            _marks(list(zip(ends, marks, strict=True)), ends[-1], otherwise=otherwise)
            for marks, otherwise in (([part.speaks for part in parts], True), ([part.graded for part in parts], False))
        )
        return cls(value, stated, tuple(edges), speaks, graded)


def _whole(parts: Iterable[tuple[int, NDArray[Any] | None]], claims: int, *, otherwise: int) -> NDArray[Any]:
    """A column of so many claims, from the parts that end at some places; None is a part that is `otherwise` throughout."""
    column = np.full(claims, otherwise)
    for end, part in parts:
        if part is not None:
            column[end - len(part) : end] = part
    return column


def _marks(parts: Sequence[tuple[int, Bools | None]], claims: int, *, otherwise: bool) -> Bools | None:
    return _whole(parts, claims, otherwise=otherwise) if any(part is not None for _, part in parts) else None
