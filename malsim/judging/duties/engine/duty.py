"""Cells of the matrix: the duty, its kind and its plot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from malsim.adapters.contract import OPTIONAL_CALLS

if TYPE_CHECKING:
    from malsim.judging.duties.engine.step import Step

OBLIGATION, PROHIBITION = "obligation", "prohibition"
SPARED = ("settle", "share")  # 30 daily ticks stand for the one; what needs the other says so


@dataclass(frozen=True)
class Duty:
    """Duty: its name, its kind, its statement in a sentence, its plot, and what it needs in addition to the plot's calls.

    Of a duty that is not `judged`, what a memory does is recorded only.
    """

    name: str
    kind: str
    sentence: str
    steps: tuple[Step, ...]
    extra: tuple[str, ...] = ()
    judged: bool = True

    @property
    def needs(self) -> list[str]:
        """Calls that a memory must offer for the cell to apply."""
        calls = [item for item in OPTIONAL_CALLS if item not in SPARED and any(step.do == item for step in self.steps)]
        return [*calls, *self.extra]
