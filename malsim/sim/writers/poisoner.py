"""Attacker that always states a false value, with high confidence.

value = always a value other than the truth; stated = confidence
edge to the most effective rival shown: supersedes with probability supersedes, else contradicts

Set its targets with `facts = ["…"]`. With supersedes = 1 rivals are replaced instead of contradicted.
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.memory.schema import NONE
from malsim.sim.writers.engine.claim_context import ClaimContext, ClaimDraft, DraftEdge

confidence = Param(0.95, "1", "stated confidence", 0.01, 1.0)
supersedes = Param(0.0, "1", "probability of superseding the rival instead of contradicting it", 0.0, 1.0)
habits = {"disputes": 0.0, "revises": False}


def write(context: ClaimContext, *, confidence: float, supersedes: float) -> ClaimDraft:
    value, push = context.sense(0.0), context.push
    rival = push.pick(push.row, push.best((push.value != NONE) & (push.value != value[:, None])))
    takes = context.happens(supersedes, "supersedes")
    edges = (DraftEdge("supersedes", np.where(takes, rival, NONE)), DraftEdge("contradicts", np.where(takes, NONE, rival)))
    return ClaimDraft(value, context.stated(confidence, 0.0), edges=edges)
