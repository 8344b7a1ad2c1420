"""Cases on their way over a reviewer's desk, as columns."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Array, Bools, Ints


@dataclass(frozen=True, kw_only=True)
class ReviewCases:
    """Cases under review, one row a case: the cell in question and a cell that contradicts it.

    `row` is the cell in question (NONE for an alarm) and `other` the contradicting cell (NONE if there is none). `rep`
    is the index of the replication and `due` the end of the look in ms. `turn` addresses the random draws and numbers
    the reviewers' claims. `accuracy` is the accuracy of the look.
    """

    row: Ints
    other: Ints
    rep: Ints
    due: Ints
    turn: Ints
    accuracy: Array

    @classmethod
    def of(cls, *, row: Any, rep: Any, turn: Any, accuracy: Any, other: Any = NONE) -> ReviewCases:
        whole = (np.full(len(rep), value, dtype=np.int64) for value in (row, other, rep, 0, turn))
        row, other, rep, due, turn = whole
        return cls(row=row, other=other, rep=rep, due=due, turn=turn, accuracy=np.full(len(rep), accuracy, dtype=np.float64))

    @classmethod
    def none(cls) -> ReviewCases:
        nothing = np.zeros(0, dtype=np.int64)
        return cls.of(row=nothing, rep=nothing, turn=nothing, accuracy=0.0)

    def due_at(self, due: Ints) -> ReviewCases:
        return replace(self, due=due)

    def rows(self, which: Bools) -> ReviewCases:
        return ReviewCases(**{one.name: getattr(self, one.name)[which] for one in fields(self)})

    def joined(self, other: ReviewCases) -> ReviewCases:
        return ReviewCases(**{
            one.name: np.append(getattr(self, one.name), getattr(other, one.name)) for one in fields(self)
        })  # fmt: skip
