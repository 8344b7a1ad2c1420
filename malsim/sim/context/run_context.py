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
    """Shared by all actors of a run; `reps` are the replications' own numbers, of which all else uses the places."""

    world: World
    reps: Ints
    seed: int
    log: EventLog
