"""Reader's turn in every replication, as arrays."""

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
    """Patterns that the actions of a turn are checked against before release."""

    looked: Bools

    def reasons(self, turn: Turn) -> dict[str, Bools]: ...

    def refused(self, turn: Turn) -> Bools: ...


@dataclass
class Turn:
    """Turn of the reader in every replication. Arrays have the shape (replications,) or (replications, lines).

    `opened` marks the lines that the reader opened. `first` is the cell that it trusted first, `acted` the cell that it
    acted on, and `value` the value that it acted on (NONE: it declined). `observed` is the value that it saw itself,
    `learned` the value of its lesson (NONE for none), and `wrote` marks lessons that were written back. `worked` is set
    when the work has been done to its end. Only the hooks at the end of the turn set `blocked` (refused at least once)
    and `released`. `check` has the patterns of actions, and `surfaced` the lines of the standing signals.
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
        return f"turn {self.number}"

    @property
    def unopened(self) -> Bools:
        closed: Bools = self.pushed.marked & ~self.opened
        return closed

    @property
    def closed(self) -> Bools:
        closed = np.zeros(len(self.fact), dtype=bool)
        closed[np.flatnonzero(self.unopened) // self.opened.shape[1]] = True
        return closed

    @property
    def unwritten(self) -> Bools:
        missing: Bools = (self.learned != NONE) & ~self.wrote
        return missing

    @property
    def unsound(self) -> Bools:
        return np.zeros(len(self.fact), dtype=bool) if self.check is None else self.check.refused(self)
