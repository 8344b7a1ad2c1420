"""A ring that agreed on what to say, each supporting all the others, and they it.

value = one reading for the whole ring at the time, right with probability accuracy
stated = confidence; edges: supports, both ways, to the latest claim of every other member
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.sim.writers.engine.claim_context import ClaimContext, ClaimDraft, DraftEdge

accuracy = Param(0.0, "1", "probability that what they agreed on is true", 0.0, 1.0)
confidence = Param(0.7, "1", "what each of them states", 0.01, 1.0)
habits = {"disputes": 0.0}


def write(context: ClaimContext, *, accuracy: float, confidence: float) -> ClaimDraft:
    value = context.sense(accuracy, member=np.zeros_like(context.member), turn=context.fact)
    peers = context.own.peers
    edges = tuple(DraftEdge("supports", peers[:, member], mutual=True) for member in range(peers.shape[1]))
    return ClaimDraft(value, context.stated(confidence, 0.0), edges=edges)
