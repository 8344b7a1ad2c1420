"""State of a single turn of the readers in all replications, and counters over all turns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
import polars as pl

from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.netlist.shipped import SurfacedLines
    from malsim.sim.context.snapshot import Pushed


OF_FACTS = ("truth", "answer", "belief", "right", "for_truth", "against_truth")
TURN = (
    "acted", "acted_false", "acted_stale", "acted_init", "declined", "withheld", "blocks", "expanded", "words", "learned",
    "lost",
)  # fmt: skip

CONTEXT = ("shown", "shown_init")  # counters recorded only if the reader's context is compacted


class ReleaseCheck(Protocol):
    """Interface of the output check, which runs before a turn's actions are released."""

    looked: Bools

    def reasons(self, turn: Turn) -> dict[str, Bools]: ...

    def refused(self, turn: Turn) -> Bools: ...


class Turn:
    """State of a single turn in all replications. Arrays have the shape (replications,) or (replications, lines).

    `opened` marks the lines that the reader opened. `first` is the cell trusted first, `acted` the cell acted on, and
    `value` the value acted on (NONE if the reader declined). `observed` is the value that the reader observed, `learned`
    the value of its lesson (or NONE), and `wrote` marks lessons that were written back. `worked` is set when the work is
    complete. Only the hooks at the end of the turn set `blocked` (refused at least once) and `released`. `surfaced` has the
    lines of the standing signals.
    """

    def __init__(self, number: int, now: float, fact: Ints, pushed: Pushed, surfaced: SurfacedLines | None = None) -> None:
        self.number, self.now, self.fact, self.pushed, self.surfaced = number, now, fact, pushed, surfaced
        self.about, self.worked = pushed.about, False
        self.check: ReleaseCheck | None = None
        self.opened: Bools = np.zeros(self.about.shape, dtype=bool)
        columns: Ints = np.full((5, len(fact)), NONE, dtype=np.int64)
        self.first, self.acted, self.value, self.observed, self.learned = columns
        masks: Bools = np.zeros((3, len(fact)), dtype=bool)
        self.wrote, self.blocked, self.released = masks

    @property
    def name(self) -> str:
        return f"turn {self.number}"

    @property
    def unopened(self) -> Bools:
        return np.asarray(self.pushed.marked & ~self.opened)

    @property
    def closed(self) -> Bools:
        return np.asarray(self.unopened.any(axis=1))

    @property
    def unwritten(self) -> Bools:
        return np.asarray((self.learned != NONE) & ~self.wrote)

    @property
    def unsound(self) -> Bools:
        return np.zeros(len(self.fact), dtype=bool) if self.check is None else self.check.refused(self)


COUNTS = {
    "turns": "turns of the reader",
    "acted": "turns released with an action",
    "acted_false": "actions based on a claim that was false when made",
    "acted_stale": "actions based on a claim that was true when made but no longer is",
    "acted_init": "actions based on bootstrap or global-store cells",
    "shown": "cells pushed or opened, opened cells twice; only if the context is compacted",
    "shown_init": "shown cells that came from the bootstrap or a global store",
    "declined": "turns released without an action, since no claim was trusted enough",
    "withheld": "turns that the stop hook never released",
    "blocks": "times the stop hook refused to release a turn",
    "blocked": "turns refused at least once",
    "unsound": "turns whose first action failed an output check",
    "unsound_wrong": "turns whose first action failed an output check and would have been wrong",
    "audited": "cells acted on that the external verifier checked",
    "audited_wrong": "cells that the external verifier contradicted",
    "expanded": "cells opened",
    "words": "words pushed",
    "demand": "words that would have been pushed without a budget",
    "learned": "lessons: observations that differ from the value acted on",
    "written": "lessons written back",
    "lost": "lessons never written back",
}

ONCE_A_TURN = frozenset(
    ("turns", "acted", "acted_false", "acted_stale", "acted_init", "declined", "blocked", "learned", "written", "lost")
)


class TurnCounters:
    """Counts of actions, refusals and other outcomes of the readers' turns, per replication.

    `turn` has the counts of the current turn. `compacts` is True if readers can lose their context.
    """

    def __init__(self, replications: int, *, compacts: bool = False) -> None:
        self.compacts = compacts
        self._past, self._now = np.zeros((2, len(COUNTS), replications))
        self.turn = dict(zip(COUNTS, self._now, strict=True))

    def begin(self) -> None:
        self._past += self._now
        self._now = np.zeros_like(self._past)
        self.turn = dict(zip(COUNTS, self._now, strict=True))
        self.turn["turns"] += 1.0

    def add(self, name: str, count: Array | Bools | Ints) -> None:
        self.turn[name] += count

    def frame(self, first: int) -> pl.DataFrame:
        total = (self._past + self._now).astype(np.int64)
        reps = pl.arange(first, first + total.shape[1], dtype=pl.Int32, eager=True).alias("rep")
        return pl.DataFrame([reps, *(pl.Series(name, count) for name, count in zip(COUNTS, total, strict=True))])
