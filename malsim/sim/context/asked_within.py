"""Reads within a scope: facts of another scope are visible only where they are shared with this one."""

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
    """Return which facts the memory shows within a scope, shape (facts, replications); None if it has no scopes."""
    return plant.shows(state, facts, scope, now) if isinstance(plant, KeepsApart) else None


def within(snapshot: Snapshot, plant: Any, state: Any, now: float, facts: Sequence[Fact], scope: str) -> Snapshot:
    """Return the snapshot as seen within a scope.

    It is unchanged if no fact has a scope, or if the memory itself answers reads.
    """
    apart = any(fact.scope for fact in facts) and not isinstance(plant, AnswersReads)
    here = shows(plant, state, now, np.arange(len(facts)), scope) if apart else None
    return snapshot if here is None else snapshot.showing(here)
