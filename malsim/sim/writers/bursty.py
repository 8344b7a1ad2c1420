"""Writer that stays silent for a long time and then makes many claims at once.

gap before claim n: spacing within a burst; exponential between bursts, with mean burst / rate − (burst − 1) · spacing
value = truth with probability accuracy, else another value; stated = accuracy

The mean rate of claims is the population's `rate`.
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.memory.graph.arrays import Array, Ints
from malsim.sim.world.draws import Draws
from malsim.sim.writers.engine.claim_context import ClaimContext, ClaimDraft

accuracy = Param(0.85, "1", "share of its claims that are true when made", 0.0, 1.0)
burst = Param(8.0, "claims", "number of claims in a burst", 1.0, 10_000.0)
spacing = Param(0.01, "d", "time between two claims in a burst", 0.0, 1_000.0)


def gap(draws: Draws, *, rep: Ints, member: Ints, turn: Ints, rate: float, burst: float, spacing: float) -> Array:
    mean = max(0.0, burst / rate - (burst - 1.0) * spacing)
    pause = draws.exponential("gap", rep=rep, member=member, turn=turn) * mean
    return np.where(turn % int(burst) == 0, pause, spacing)


def write(context: ClaimContext, *, accuracy: float) -> ClaimDraft:
    return ClaimDraft(context.sense(accuracy), context.stated(accuracy, 0.0))
