"""Repeats the last value it read, as if it were news.

value = that of the best ranked row about the fact that it was shown, derived_from that row; silent where it was shown none
stated = confidence

It never looks at the world, so it renews the date of what may have ceased to be true.
"""

from malsim.base.parameters import Param
from malsim.memory.schema import NONE
from malsim.sim.writers.engine.claim_context import ClaimContext, ClaimDraft, DraftEdge

confidence = Param(0.8, "1", "what it states", 0.01, 1.0)
habits = {"disputes": 0.0, "supports": 0.0}


def write(context: ClaimContext, *, confidence: float) -> ClaimDraft:
    row, value = context.push.row[:, 0], context.push.value[:, 0]
    speaks = (row != NONE) & (value != NONE)
    return ClaimDraft(value, context.stated(confidence, 0.0), edges=(DraftEdge("derived_from", row),), speaks=speaks)
