"""A source with many names, each of which supports the claim of the first.

value = one reading of the source at the time, right with probability accuracy, the same for every name
stated = confidence; every name speaks once a fact, and each but the first supports the first

`count` is the number of names. However many they are, the cell gains at most the support ceiling.
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.memory.schema import NONE
from malsim.sim.writers.engine.claim_context import ClaimContext, ClaimDraft, DraftEdge

accuracy = Param(0.0, "1", "probability that what the source pushes is true", 0.0, 1.0)
confidence = Param(0.7, "1", "what each name states", 0.01, 1.0)
habits = {"disputes": 0.0, "revises": False}


def write(context: ClaimContext, *, accuracy: float, confidence: float) -> ClaimDraft:
    value = context.sense(accuracy, member=np.zeros_like(context.member), turn=context.fact)
    first = DraftEdge("supports", context.own.first)
    return ClaimDraft(
        value, context.stated(confidence, 0.0), edges=(first,), speaks=(context.own.row == NONE) & ~context.own.again
    )
