"""What counts against writers' records: cells that were superseded, and cells that others contradict."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from malsim.memory import schema
from malsim.memory.columns import Column
from malsim.memory.schema import NONE
from malsim.memory.wiring import accusations

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.memory.cells import Memory

__all__ = ["Outcomes"]

_OUTSIDE = {name: words.index("external") for name, words in schema.WORDS.items() if "external" in words}


@dataclass(frozen=True)
class Outcomes:
    """What the rules let count under one `evidence_from`; grown and changed along with a memory.

    `accuser` and `accused` are rows of the `contradicts` edges among the first `judged` edges; `replaced` marks the cells
    that were superseded by one that may judge them.
    """

    evidence_from: str
    accuser: Column
    accused: Column
    judged: int
    replaced: Column

    @classmethod
    def of(cls, memory: Memory, evidence_from: str) -> Outcomes:
        """The outcomes that a memory's cells and edges come to."""
        nobody = Column(np.zeros(0, dtype=np.int64))
        nothing = cls(evidence_from, nobody, nobody, 0, Column(np.zeros(memory.height, dtype=bool)))
        return nothing.changed(memory, np.flatnonzero(memory.column("successor") != NONE)).seen(memory)

    def seen(self, memory: Memory) -> Outcomes:
        """With the accusations that were added to the wiring since."""
        edges = memory.table("edges")
        if self.judged == edges.height:
            return self
        accuser, accused = accusations(edges, self.judged)
        keep = np.flatnonzero(self._may_judge(memory, accuser, accused))
        pair = self.accuser.grown(accuser.take(keep)), self.accused.grown(accused.take(keep))
        return replace(self, accuser=pair[0], accused=pair[1], judged=edges.height)

    def grown(self, cells: int) -> Outcomes:
        """With so many new cells, which nothing has replaced."""
        return replace(self, replaced=self.replaced.grown(np.zeros(cells, dtype=bool)))

    def changed(self, memory: Memory, rows: NDArray[np.int64]) -> Outcomes:
        """With the successors that these rows have now."""
        heirs = memory.values("successor", rows)
        return replace(self, replaced=self.replaced.changed(rows, (heirs != NONE) & self._may_judge(memory, heirs, rows)))

    def contradicted(self, active: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which cells were replaced or have an accuser that is active."""
        wrong = self.replaced.values.copy()
        stands = np.flatnonzero(active.take(self.accuser.values))
        wrong[self.accused.values.take(stands)] = True
        return wrong

    def _may_judge(self, memory: Memory, judge: NDArray[np.int64], judged: NDArray[np.int64]) -> NDArray[np.bool_]:
        if self.evidence_from == "any":
            return np.ones(len(judge), dtype=bool)
        author = memory.column("author")
        other: NDArray[np.bool_] = author[judge] != author[judged]
        if self.evidence_from == "external":
            other &= np.logical_or(*(memory.column(name)[judge] == word for name, word in _OUTSIDE.items()))
        return other
