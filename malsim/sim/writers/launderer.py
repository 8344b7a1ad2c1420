"""Untrusted source whose value other writers pass on under their own names.

value = one observation by the origin (member 0), right with probability accuracy, the same for all members
edges of the other members, by `way`:
0 summary: derived_from the origin's latest claim
1 tool echo: none, as if a tool had answered
2 manufactured corroboration: supports, to the latest claim of every other member

The belief in the value shows whether a law ties the authority of a value to its origin.
Source of the ways: origin-bound authority, arXiv 2606.24322.
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.memory.schema import NONE
from malsim.sim.writers.engine.claim_context import ClaimContext, ClaimDraft, DraftEdge

accuracy = Param(0.0, "1", "probability that the origin's value is true", 0.0, 1.0)
confidence = Param(0.8, "1", "stated confidence", 0.01, 1.0)
way = Param(0.0, "1", "0: summary, 1: tool echo, 2: manufactured corroboration", 0.0, 2.0)
habits = {"disputes": 0.0, "supports": 0.0}


def write(context: ClaimContext, *, accuracy: float, confidence: float, way: float) -> ClaimDraft:
    latest, passes_on = context.latest, context.member > 0
    value = context.sense(accuracy, member=np.zeros_like(context.member), turn=context.fact)
    edges: tuple[DraftEdge, ...] = ()
    if round(way) == 0:
        edges = (DraftEdge("derived_from", np.where(passes_on, latest.peers[:, 0], NONE)),)
    elif round(way) > 1:
        edges = tuple(DraftEdge("supports", latest.peers[:, member]) for member in range(latest.peers.shape[1]))
    return ClaimDraft(value, context.stated(confidence, 0.0), edges=edges)
