"""Cells of the matrix: the duty, its kind and its plot; and the list of all cells, family by family."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from malsim.adapters.contract import OPTIONAL_CALLS
from malsim.base.errors import UsageError, nearest

if TYPE_CHECKING:
    from malsim.judging.duties.engine.step import Step

OBLIGATION, PROHIBITION = "obligation", "prohibition"
SPARED = ("settle", "share")  # 30 daily ticks stand for the one; what needs the other says so


@dataclass(frozen=True)
class Duty:
    """Duty: its name, its kind, its statement in a sentence, its plot, and what it needs beside the plot's calls.

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
        calls = [each for each in OPTIONAL_CALLS if each not in SPARED and any(step.do == each for step in self.steps)]
        return [*calls, *self.extra]


@cache
def every_duty() -> dict[str, Duty]:
    """Return all cells by name, in the order of the families."""
    from malsim.judging.duties.cells import every_cell

    return {cell.name: cell for cell in every_cell()}


def find_duty(name: str) -> Duty:
    """Return the cell of a name; raise `UsageError` with the nearest names if there is none."""
    cells = every_duty()
    if name not in cells:
        raise UsageError("unknown cell", where="duties", given=name, hint=nearest(name, cells, f"one of {', '.join(cells)}"))
    return cells[name]
