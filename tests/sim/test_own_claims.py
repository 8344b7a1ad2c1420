"""What members of a population learn of each other through verdicts."""

from __future__ import annotations

import numpy as np

from malsim.sim.engine.claim_schedule import DueClaims
from malsim.sim.engine.own_claims import OwnClaims
from malsim.sim.world.draws import Draws


def test_of_claims_made_in_one_turn_the_first_that_the_gate_took_is_the_populations_first() -> None:
    known = OwnClaims(np.array([3]), replications=1, facts=1)
    zeros = np.zeros(2, dtype=np.int64)
    for members, rows in (([2, 0], [7, 8]), ([1, 0], [9, 10])):
        known.on_verdicts(zeros, zeros, np.array(members), zeros, np.array(rows), zeros)
    due = DueClaims(
        zeros, np.array([0, 1]), zeros, zeros, np.array([0, 1]), zeros, zeros, zeros,
        draws=Draws(0, ("a",)), spans=[(0, slice(0, 2))],
    )  # fmt: skip
    own = known.own(due, 0)
    assert own.first.tolist() == [7, 7]
    assert own.row.tolist() == [10, 9]
