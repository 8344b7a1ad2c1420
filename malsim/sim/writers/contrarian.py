"""Writer that contradicts the claim with the highest effective confidence and states a different value.

value = any value except that of the most effective row shown about the fact; silent if no row was shown
stated = confidence; edge: contradicts that row
"""

from malsim.base.parameters import Param
from malsim.memory.schema import NONE
from malsim.sim.writers.engine.claim_context import ClaimContext, ClaimDraft, DraftEdge

confidence = Param(0.7, "1", "stated confidence", 0.01, 1.0)
habits = {"disputes": 0.0}


def write(context: ClaimContext, *, confidence: float) -> ClaimDraft:
    push = context.push
    best = push.best(push.value != NONE)
    rival, value = push.pick(push.row, best), push.pick(push.value, best)
    edges = (DraftEdge("contradicts", rival),)
    return ClaimDraft(context.another(value), context.stated(confidence, 0.0), edges=edges, speaks=rival != NONE)
