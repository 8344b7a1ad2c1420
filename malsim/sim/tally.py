"""What is added up over a run's ticks, and how its last state stands against truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.schema import NONE
from malsim.sim import gauges

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.memory import Rules
    from malsim.sim.occasion import Array, Bools, Ints
    from malsim.sim.push import Stand

__all__ = ["Finals", "Tally"]


class Tally:
    """Sums by replication over the answers of every fact at every tick."""

    def __init__(self, replications: int) -> None:
        self.answered, self.asked, self.right, self.squares, self.against = (np.zeros(replications) for _ in range(5))

    def add(self, answers: Mapping[str, Array]) -> None:
        """Take the answers of a tick, each of shape (facts, replications)."""
        right, belief = answers["right"], answers["belief"]
        self.asked += len(right)
        self.answered += (~np.isnan(right)).sum(axis=0)
        self.right += _sum(right)
        self.squares += _sum((belief - right) ** 2)
        self.against += _sum(answers["against_truth"])


def _sum(values: Array) -> Array:
    """The sum over the facts; NaN, where nothing is said of one, adds nothing, and none is negative."""
    total: Array = np.fmax(values, 0.0).sum(axis=0)
    return total


@dataclass(frozen=True)
class Finals:
    """The active cells about facts at the end of a run, one row each, and what kind of graph they stand in.

    `effective` and `claimed` are what the memory makes of a claim and what its writer stated; `true` whether it is true now.
    `challenged` and `grounded` are shares by replication: of active cells with an incoming challenge, and of those whose
    writer has enough outcomes.
    """

    rep: Ints
    effective: Array
    claimed: Array
    currency: Array
    true: Bools
    challenged: Array
    grounded: Array
    cells: Ints

    @classmethod
    def of(cls, stand: Stand, truth: Ints, rules: Rules) -> Finals:
        """Read them off the memory as the last tick left it."""
        catalogue, memory = stand.catalogue, stand.memory
        rep, active = catalogue.rep.astype(np.int64), stand.active
        about = np.flatnonzero(active & (catalogue.fact != NONE) & (catalogue.value != NONE))
        true = gauges.cells_true(stand, truth) if len(truth) else np.zeros(len(rep), dtype=bool)
        size = truth.shape[1]
        count = np.bincount(rep[active], minlength=size)
        outcomes = memory.table("writers").column("claims")
        grounded = outcomes[memory.column("author")] >= rules.calibration_history
        challenged = memory.column("challenge_mass") > 0.0
        shares = [np.bincount(rep[active & part], minlength=size) / np.maximum(count, 1) for part in (challenged, grounded)]
        return cls(
            rep=rep[about], effective=stand.effective[about], claimed=memory.column("claimed")[about],
            currency=memory.values("currency", about), true=true[about], challenged=shares[0], grounded=shares[1],
            cells=np.bincount(rep, minlength=size),
        )  # fmt: skip
