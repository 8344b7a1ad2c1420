"""Writer that is accurate until it has built up a track record, and is always wrong from then on.

value = truth with probability accuracy for the first loyal claims; then always a value other than the truth
stated = accuracy before it turns, confidence afterwards
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.sim.writers.engine.claim_context import ClaimContext, ClaimDraft

accuracy = Param(0.95, "1", "share of its claims that are true before it turns", 0.0, 1.0)
loyal = Param(20.0, "claims", "number of claims before the writer turns", 0.0, 1e9)
confidence = Param(0.95, "1", "stated confidence after the writer has turned", 0.01, 1.0)


def write(context: ClaimContext, *, accuracy: float, loyal: float, confidence: float) -> ClaimDraft:
    asleep = context.turn < loyal
    value = np.where(asleep, context.sense(accuracy), context.sense(0.0))
    return ClaimDraft(value, np.where(asleep, context.stated(accuracy, 0.0), context.stated(confidence, 0.0)))
