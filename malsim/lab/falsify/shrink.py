"""A break made small, and still a break: fewer writes and claims, settings put back, one replication, a shorter run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from malsim.lab.falsify.schedule import Found, applied
from malsim.sim.clock import DAY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from malsim.lab.falsify.predicates import Seen
    from malsim.sim.settings.scenario import Scenario

__all__ = ["Break", "shrunk"]

MOST_RUNS = 200


@dataclass(frozen=True)
class Break:
    """A scenario as it was, and what is put into it that breaks the property."""

    base: Scenario
    found: Found

    @property
    def scenario(self) -> Scenario:
        """The two together."""
        return applied(self.base, self.found)


def shrunk(start: Break, judge: Callable[[Scenario], Seen], seen: Seen) -> tuple[Break, Seen, int]:
    """Take away whatever the break does not need, one thing at a time, until nothing more can go.

    Returns the smallest break found, what its run showed, and how many runs that took (at most 200); every step was run and
    still broke the property, so the last did.
    """
    runs, smallest, shown = 0, start, seen
    going = True
    while going:
        going = False
        for one in _simpler(smallest, shown):
            if runs >= MOST_RUNS:
                return smallest, shown, runs
            runs += 1
            tried = judge(one.scenario)
            if tried.broken:
                smallest, shown, going = one, tried, True
                break
    return smallest, shown, runs


def _simpler(one: Break, shown: Seen) -> Iterator[Break]:
    """Every break that is one step smaller, the larger steps first."""
    base, found = one.base, one.found
    if base.replications > 1:
        yield replace(one, base=base.replace(replications=1, first=shown.replication))
    for place in range(len(found.writes)):
        yield replace(one, found=replace(found, writes=found.writes[:place] + found.writes[place + 1 :]))
    for name in found.settings:
        rest = {other: value for other, value in found.settings.items() if other != name}
        yield replace(one, found=replace(found, settings=rest))
    for row in range(base.claims.height):
        kept = base.claims.filter(np.arange(base.claims.height) != row)
        yield replace(one, base=base.replace(claims=kept))
    half = base.turns // 2
    for turns in dict.fromkeys((half, 2 * half - 1)):
        if turns >= 1:
            yield replace(one, base=base.replace(days=turns * base.turn_every / DAY))
    for place, write in enumerate(found.writes):
        for digits in (0, 1, 2):
            rounder = max(round(write.confidence, digits), 0.1)
            if rounder != write.confidence:
                changed = replace(write, confidence=rounder)
                yield replace(one, found=replace(found, writes=(*found.writes[:place], changed, *found.writes[place + 1 :])))
