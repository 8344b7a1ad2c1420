"""Ring of writers that all claim the same value and support each other's claims.

value = one observation shared by the ring, right with probability accuracy
stated = confidence; edges: supports, in both directions, to the latest claim of every other member
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.sim.writers.engine.claim_context import ClaimContext, ClaimDraft, DraftEdge

accuracy = Param(0.0, "1", "probability that the agreed value is true", 0.0, 1.0)
confidence = Param(0.7, "1", "stated confidence", 0.01, 1.0)
habits = {"disputes": 0.0}


def write(context: ClaimContext, *, accuracy: float, confidence: float) -> ClaimDraft:
    value = context.sense(accuracy, member=np.zeros_like(context.member), turn=context.fact)
    peers = context.latest.peers
    edges = tuple(DraftEdge("supports", peers[:, member], mutual=True) for member in range(peers.shape[1]))
    return ClaimDraft(value, context.stated(confidence, 0.0), edges=edges)
