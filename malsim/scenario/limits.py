"""How much a scenario from a stranger may ask of the machine before it is refused; a flag raises each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from malsim.errors import ScenarioError
from malsim.scenario.baselines import LARGEST
from malsim.sim.clock import DAY

if TYPE_CHECKING:
    from malsim.sim.script import Scenario

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What is run without being asked twice.

    Parameters
    ----------
    ticks
        Ticks × replications of one scenario, each with its scripted claims.
    baseline
        Bytes of a baseline's file.
    """

    ticks: int = 1_000_000
    baseline: int = LARGEST

    def check(self, scenario: Scenario) -> None:
        """Refuse a scenario that asks for more.

        Raises
        ------
        ScenarioError
            Saying what it asks for, what is allowed, and the flag.
        """
        asked = int(scenario.days * DAY / scenario.turn_every) * scenario.replications
        if asked > self.ticks:
            hint = f"ask for fewer days or replications, or allow it: --most-ticks {asked}"
            raise ScenarioError("too many ticks × replications", given=asked, allowed=f"{self.ticks}", hint=hint)
