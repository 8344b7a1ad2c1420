"""Writer that repeats the best-ranked claim as if it were a new observation.

value = that of the highest-ranked row shown about the fact, derived_from that row; silent if no row was shown
stated = confidence

The writer never observes the world, so it renews the date of claims that may no longer be true.
"""

from malsim.base.parameters import Param
from malsim.memory.schema import NONE
from malsim.sim.writers.engine.claim_context import ClaimContext, ClaimDraft, DraftEdge

confidence = Param(0.8, "1", "stated confidence", 0.01, 1.0)
habits = {"disputes": 0.0, "supports": 0.0}


def write(context: ClaimContext, *, confidence: float) -> ClaimDraft:
    row, value = context.push.row[:, 0], context.push.value[:, 0]
    speaks = (row != NONE) & (value != NONE)
    return ClaimDraft(value, context.stated(confidence, 0.0), edges=(DraftEdge("derived_from", row),), speaks=speaks)
