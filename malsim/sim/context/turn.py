"""One turn of the reader of every replication, as numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Bools, Ints
    from malsim.netlist.shipped import SurfacedLines
    from malsim.sim.context.snapshot import Pushed


class ReleaseCheck(Protocol):
    """The patterns that each action of a turn is held against before it is released."""

    looked: Bools

    def reasons(self, turn: Turn) -> dict[str, Bools]:
        """Where an action is refused, for each reason."""

    def refused(self, turn: Turn) -> Bools:
        """Where it is refused for any."""


@dataclass
class Turn:
    """One turn of every replication's reader, shape (replications,) or (replications, lines).

    `opened` marks the lines it opened; `first` and `acted` are the cells it trusted first and acted on in the end, `value`
    what it took to be true (NONE: it declined); `observed` is what it saw itself and `learned` the value of its lesson, NONE
    for none; `wrote` whether it wrote that back. `worked` says that the work was done to its end. Only the hooks at the
    turn's end set `blocked`, whether it was refused at least once, and `released`. `check` has the patterns of actions,
    `surfaced` the lines of standing signals beside them.
    """

    number: int
    now: float
    fact: Ints
    pushed: Pushed
    about: Bools
    check: ReleaseCheck | None = None
    surfaced: SurfacedLines | None = None
    opened: Bools = field(init=False)
    first: Ints = field(init=False)
    acted: Ints = field(init=False)
    value: Ints = field(init=False)
    observed: Ints = field(init=False)
    learned: Ints = field(init=False)
    wrote: Bools = field(init=False)
    blocked: Bools = field(init=False)
    released: Bools = field(init=False)
    worked: bool = False

    def __post_init__(self) -> None:
        count = len(self.fact)
        self.opened = np.zeros(self.about.shape, dtype=bool)
        self.first, self.acted, self.value, self.observed, self.learned = np.full((5, count), NONE, dtype=np.int64)
        self.wrote, self.blocked, self.released = np.zeros((3, count), dtype=bool)

    @property
    def name(self) -> str:
        """How events call it."""
        return f"turn {self.number}"

    @property
    def unopened(self) -> Bools:
        """The lines marked ^ that were never opened."""
        closed: Bools = self.pushed.marked & ~self.opened
        return closed

    @property
    def closed(self) -> Bools:
        """Whether a line marked ^ was never opened."""
        closed = np.zeros(len(self.fact), dtype=bool)
        closed[np.flatnonzero(self.unopened) // self.opened.shape[1]] = True
        return closed

    @property
    def unwritten(self) -> Bools:
        """Whether something was learned and nothing written back."""
        missing: Bools = (self.learned != NONE) & ~self.wrote
        return missing

    @property
    def unsound(self) -> Bools:
        """Whether what would be released is refused by a pattern."""
        return np.zeros(len(self.fact), dtype=bool) if self.check is None else self.check.refused(self)
