"""Writer that states what it observes, with its accuracy as its confidence.

value = truth with probability accuracy, else another value, drawn uniformly
stated = accuracy + noise · N(0, 1), clipped to [0.01, 1]
"""

from malsim.base.parameters import Param
from malsim.sim.writers.engine.claim_context import ClaimContext, ClaimDraft

accuracy = Param(0.85, "1", "share of its claims that are true when made", 0.0, 1.0)
noise = Param(0.05, "1", "standard deviation of the stated confidence", 0.0, 1.0)


def write(context: ClaimContext, *, accuracy: float, noise: float) -> ClaimDraft:
    return ClaimDraft(context.sense(accuracy), context.stated(accuracy, noise))
