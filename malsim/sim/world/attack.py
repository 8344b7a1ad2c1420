"""Attack on a scenario: its facts and its time, on which the attack scores are based."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from malsim.base.errors import ScenarioError
from malsim.sim.world.clock import DAY, read_spans

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class Attack:
    """Attack on facts (all, if empty) by lies, from `start` on and before `end` (ms, or text: "36h")."""

    facts: tuple[str, ...] = ()
    start: int = 0
    end: int | None = None

    def __post_init__(self) -> None:
        read_spans(self, "start", "end", where="attack")
        if self.end is not None and self.end <= self.start:
            raise ScenarioError("out of bounds", where="attack.to", given=f"{self.end / DAY:g}d", allowed="later than from")

    def check(self, facts: Sequence[str], days: float, *, where: str) -> None:
        for name in self.facts:
            if name not in facts:
                raise ScenarioError("no such fact", where=f"{where}.facts", given=name, allowed=" ".join(facts) or "none")
        if self.start >= days * DAY:
            raise ScenarioError(
                "out of bounds", where=f"{where}.from", given=f"{self.start / DAY:g}d", allowed=f"< {days:g}d"
            )
