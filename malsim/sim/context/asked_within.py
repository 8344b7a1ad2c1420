"""What a memory shows within a scope: of facts that are of another only those that are shared with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.memory.port import AnswersReads, KeepsApart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.memory.graph.arrays import Bools, Ints
    from malsim.sim.context.snapshot import Snapshot
    from malsim.sim.world import Fact


def shows(plant: Any, state: Any, now: float, facts: Ints, scope: str) -> Bools | None:
    """Whether anything is shown of facts within a scope, shape (facts, replications); None where it knows no scopes."""
    return plant.shows(state, facts, scope, now) if isinstance(plant, KeepsApart) else None


def within(snapshot: Snapshot, plant: Any, state: Any, now: float, facts: Sequence[Fact], scope: str) -> Snapshot:
    """A memory as it is seen within a scope, where any fact is of one and its answers are not what is seen."""
    apart = any(fact.scope for fact in facts) and not isinstance(plant, AnswersReads)
    here = shows(plant, state, now, np.arange(len(facts)), scope) if apart else None
    return snapshot if here is None else snapshot.showing(here)
