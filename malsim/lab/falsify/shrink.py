"""A break made small, and still a break: fewer writes and claims, settings put back, one replication, a shorter run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from malsim.lab.falsify.schedule import Disturbance, with_disturbance
from malsim.sim.clock import DAY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from malsim.lab.falsify.predicates import PropertyRun
    from malsim.sim.settings.scenario import Scenario

__all__ = ["Break", "shrink"]

MOST_RUNS = 200


@dataclass(frozen=True)
class Break:
    """A scenario as it was, and what is put into it that breaks the property."""

    base: Scenario
    disturbance: Disturbance

    @property
    def scenario(self) -> Scenario:
        """The two together."""
        return with_disturbance(self.base, self.disturbance)


def shrink(start: Break, judge: Callable[[Scenario], PropertyRun], result: PropertyRun) -> tuple[Break, PropertyRun, int]:
    """Take away whatever the break does not need, one thing at a time, until nothing more can go.

    Returns the smallest break found, what its run showed, and how many runs that took (at most 200); every step was run and
    still broke the property, so the last did.
    """
    smallest, runs = start, 0
    steps = _simpler(smallest, result)
    while runs < MOST_RUNS and (one := next(steps, None)):
        runs += 1
        run = judge(one.scenario)
        if run.broken:
            smallest, result = one, run
            steps = _simpler(smallest, result)
    return smallest, result, runs


def _simpler(one: Break, result: PropertyRun) -> Iterator[Break]:
    """Every break that is one step smaller, the larger steps first."""
    base, disturbance = one.base, one.disturbance
    if base.replications > 1:
        yield replace(one, base=base.replace(replications=1, first=result.replication))
    for place in range(len(disturbance.writes)):
        writes = disturbance.writes[:place] + disturbance.writes[place + 1 :]
        yield replace(one, disturbance=replace(disturbance, writes=writes))
    for name in disturbance.settings:
        rest = {other: value for other, value in disturbance.settings.items() if other != name}
        yield replace(one, disturbance=replace(disturbance, settings=rest))
    for row in range(base.claims.height):
        yield replace(one, base=base.replace(claims=base.claims.filter(np.arange(base.claims.height) != row)))
    half = base.turns // 2
    for turns in dict.fromkeys((half, 2 * half - 1)):
        if turns >= 1:
            yield replace(one, base=base.replace(days=turns * base.turn_every / DAY))
    for place, write in enumerate(disturbance.writes):
        for digits in (0, 1, 2):
            rounder = max(round(write.confidence, digits), 0.1)
            if rounder != write.confidence:
                writes = (*disturbance.writes[:place], replace(write, confidence=rounder), *disturbance.writes[place + 1 :])
                yield replace(one, disturbance=replace(disturbance, writes=writes))
