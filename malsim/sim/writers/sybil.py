"""Single source that writes under many names, all of which support the first name's claim.

value = one observation by the source, right with probability accuracy, the same for every name
stated = confidence; every name makes one claim per fact, and all but the first support the first

`count` is the number of names. Whatever this number, the cell gains at most the support ceiling.
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.memory.schema import NONE
from malsim.sim.writers.engine.claim_context import ClaimContext, ClaimDraft, DraftEdge

accuracy = Param(0.0, "1", "probability that the source's value is true", 0.0, 1.0)
confidence = Param(0.7, "1", "stated confidence", 0.01, 1.0)
habits = {"disputes": 0.0, "revises": False}


def write(context: ClaimContext, *, accuracy: float, confidence: float) -> ClaimDraft:
    value = context.sense(accuracy, member=np.zeros_like(context.member), turn=context.fact)
    edges, is_first = (DraftEdge("supports", context.latest.first),), (context.latest.row == NONE) & ~context.latest.again
    return ClaimDraft(value, context.stated(confidence, 0.0), edges=edges, speaks=is_first)
