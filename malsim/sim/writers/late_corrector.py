"""Corrects itself, late: it reports what was true a while ago, and replaces what it said before.

value(t) = truth(t − lag) with probability accuracy, else another value; stated = accuracy + noise · N(0, 1)
edge: supersedes its own earlier claim about the fact, so that versions grow
"""

from malsim.base.parameters import Param
from malsim.sim.writers.engine.claim_context import ClaimContext, ClaimDraft

accuracy = Param(0.95, "1", "share of its claims that were true a lag ago", 0.0, 1.0)
lag = Param(5.0, "d", "how late its news is", 0.0, 100_000.0)
noise = Param(0.02, "1", "spread of what it states", 0.0, 1.0)


def write(context: ClaimContext, *, accuracy: float, lag: float, noise: float) -> ClaimDraft:
    return ClaimDraft(context.sense(accuracy, lag=lag), context.stated(accuracy, noise))
