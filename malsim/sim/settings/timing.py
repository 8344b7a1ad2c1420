"""Times of a run's ticks: at the end of every turn, late, missed, or doubled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from malsim.base.errors import ScenarioError
from malsim.sim.world.clock import milliseconds
from malsim.sim.world.draws import Draws

if TYPE_CHECKING:
    from malsim.sim.settings.scenario import Scenario


@dataclass(frozen=True)
class Timing:
    """Times of a run's ticks in milliseconds, ascending. At each of those in `doubled` the tick is made twice."""

    at: tuple[int, ...]
    doubled: frozenset[int] = frozenset()

    @classmethod
    def regular(cls, scenario: Scenario) -> Timing:
        period = scenario.turn_every
        every = range(period, milliseconds(scenario.days) + 1, period)
        return cls(tuple(at for at in every if not any(start <= at < end for start, end in scenario.gaps)))

    @classmethod
    def jittered(cls, scenario: Scenario, *, late: float = 0.0, missed: float = 0.0, doubled: float = 0.0) -> Timing:
        """Return regular times of which given shares are late, missed or doubled, drawn from the scenario's seed.

        A late tick is delayed by up to one turn, drawn uniformly, but stays before the next tick. The last tick is
        always made on time.

        >>> from malsim.sim.settings.scenario import Scenario
        >>> timing = Timing.jittered(Scenario(days=100.0), missed=0.3)
        >>> 60 < len(timing.at) < 80
        True
        """
        for name, share in (("late", late), ("missed", missed), ("doubled", doubled)):
            if not 0.0 <= share <= 1.0:
                raise ScenarioError("not a share", where=f"timing.{name}", given=share, allowed="0 to 1")
        at = np.array(cls.regular(scenario).at, dtype=np.int64)
        draws, turn = Draws(scenario.seed, "thread"), np.arange(len(at))
        hit = {
            name: (draws.uniform(name, rep=0, turn=turn) < share) & (turn < len(at) - 1)
            for name, share in (("late", late), ("missed", missed), ("doubled", doubled))
        }
        delay = (draws.uniform("delay", rep=0, turn=turn) * (scenario.turn_every - 1)).astype(np.int64) + 1
        delayed = at + np.where(hit["late"], np.minimum(delay, scenario.turn_every - 1), 0)
        at = np.minimum(delayed, at[-1:])
        ticks = ~hit["missed"]
        return cls(tuple(at[ticks].tolist()), frozenset(at[ticks & hit["doubled"]].tolist()))
