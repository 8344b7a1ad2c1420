"""Cost and harm of the reader's turns, counted for each replication."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Array, Bools, Ints

COUNTS = {
    "turns": "turns of the reader",
    "acted": "turns released with an action",
    "acted_false": "actions on a claim that was never true while it stood",
    "acted_stale": "actions on a claim that was true when made and is no longer",
    "acted_init": "actions resting on bootstrap or global-store cells",
    "shown": "cells pushed, and opened: an opened one counts twice; where the context is compacted",
    "shown_init": "those of them that came with the memory, of its bootstrap or lent by a global store",
    "declined": "turns released without an action, for want of a claim trusted enough",
    "withheld": "turns given up: the stop hook never released them",
    "blocks": "times the stop hook refused to release a turn",
    "blocked": "turns refused at least once",
    "unsound": "turns whose action broke a pattern at first",
    "unsound_wrong": "those of them whose action would have been wrong",
    "audited": "cells acted on that the outside verifier looked into",
    "audited_wrong": "those of them that it contradicted",
    "expanded": "cells opened",
    "words": "words pushed",
    "demand": "words that would have been pushed without a budget",
    "learned": "lessons: observations that differ from what was acted on",
    "written": "lessons written back",
    "lost": "lessons never written back",
}

ONCE_A_TURN = frozenset(
    ("turns", "acted", "acted_false", "acted_stale", "acted_init", "declined", "blocked", "learned", "written", "lost")
)


class TurnCounters:
    """Counts by replication. `turn` holds those of the current turn; `compacts` is True if the context is ever emptied."""

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
