"""Resources that a scenario needs, and the check against the limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from malsim.base.limits import Limits
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from malsim.sim.settings.scenario import Scenario

RECORDED = 150  # bytes of a cell at a tick, as measured under mal; other laws keep less of it


def check_size(scenario: Scenario) -> None:
    """Raise `ScenarioError` if the scenario has more replications, ticks or cells than the limits allow.

    The error states the size asked for, the size allowed, and how to raise the limit.
    """
    ticks = scenario.turns * scenario.replications
    cells = _cells(scenario) * ticks
    sizes = {"replications": scenario.replications, "ticks": ticks, "cells": cells, "memory": cells * RECORDED}
    Limits.current().check(sizes, where=scenario.path or None)


def _cells(scenario: Scenario) -> int:
    draws = 0.0
    for group in scenario.writers:
        days = max(0.0, min(scenario.days * DAY, group.last) - group.start) / DAY
        draws += group.count * days * (DAY / group.every if group.every else group.rate)
    return scenario.claims.height + int(draws)
