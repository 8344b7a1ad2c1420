"""What everyone who acts in a run stands on: the world, the replications, the seed, and where events are noted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from malsim.sim.agent.netlist_runner import NetlistRunner
    from malsim.sim.agent.reviewer_pool import ReviewerPool
    from malsim.sim.agent.snapshot import Snapshot
    from malsim.sim.engine.claim_context import Ints
    from malsim.sim.record.event_log import EventLog
    from malsim.sim.record.turn_counters import TurnCounters
    from malsim.sim.world import World

__all__ = ["RunContext", "TickContext"]


@dataclass(frozen=True, kw_only=True)
class RunContext:
    """Shared by all actors of a run; `reps` are the replications' own numbers, of which all else uses the places."""

    world: World
    reps: Ints
    seed: int
    log: EventLog


@dataclass(frozen=True)
class TickContext:
    """What stands after a tick, for whoever records it; `truth` has one row a fact, one column a replication."""

    snapshot: Snapshot
    truth: Ints
    counters: TurnCounters | None
    reviewers: ReviewerPool | None
    netlist_runner: NetlistRunner | None = None
