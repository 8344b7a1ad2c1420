"""Earns a track record, then turns on it.

value = truth with probability accuracy while it has made fewer than loyal claims; never the truth from then on
stated = accuracy before, confidence after
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.sim.writers.engine.claim_context import ClaimContext, ClaimDraft

accuracy = Param(0.95, "1", "share of its claims that are true while it is loyal", 0.0, 1.0)
loyal = Param(20.0, "claims", "claims it makes before it turns", 0.0, 1e9)
confidence = Param(0.95, "1", "what it states once it has turned", 0.01, 1.0)


def write(context: ClaimContext, *, accuracy: float, loyal: float, confidence: float) -> ClaimDraft:
    asleep = context.turn < loyal
    value = np.where(asleep, context.sense(accuracy), context.sense(0.0))
    return ClaimDraft(value, np.where(asleep, context.stated(accuracy, 0.0), context.stated(confidence, 0.0)))
