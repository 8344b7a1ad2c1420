"""State shared by the actors of a run: the world, the replications, the seed and the event log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Ints
    from malsim.sim.context.event_log import EventLog
    from malsim.sim.world import World


@dataclass(frozen=True, kw_only=True)
class RunContext:
    """State shared by all actors of a run. `reps` are the numbers of the replications; all other code uses their indexes."""

    world: World
    reps: Ints
    seed: int
    log: EventLog
