"""State after a tick, as the recorder receives it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.memory.graph.arrays import Bools, Ints
    from malsim.sim.agent.netlist_runner import NetlistRunner
    from malsim.sim.agent.reviewer_pool import ReviewerPool
    from malsim.sim.context.snapshot import Snapshot
    from malsim.sim.context.turn_counters import TurnCounters


@dataclass(frozen=True)
class TickContext:
    """State after a tick, for the recorder. `truth` has the shape (facts, replications)."""

    snapshot: Snapshot
    truth: Ints
    counters: TurnCounters | None
    reviewers: ReviewerPool | None
    netlist_runner: NetlistRunner | None = None
    shows: Callable[[Ints, str], Bools | None] = lambda *_: None  # see `context.asked_within`
