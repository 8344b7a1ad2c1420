"""Writer that is right less often than its stated confidence suggests.

value = truth with probability accuracy, else another value; stated = confidence + noise · N(0, 1), confidence > accuracy
"""

from malsim.base.parameters import Param
from malsim.sim.writers.engine.claim_context import ClaimContext, ClaimDraft

accuracy = Param(0.6, "1", "share of its claims that are true when made", 0.0, 1.0)
confidence = Param(0.95, "1", "stated confidence", 0.01, 1.0)
noise = Param(0.02, "1", "standard deviation of the stated confidence", 0.0, 1.0)


def write(context: ClaimContext, *, accuracy: float, confidence: float, noise: float) -> ClaimDraft:
    return ClaimDraft(context.sense(accuracy), context.stated(confidence, noise))
