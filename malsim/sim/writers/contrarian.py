"""Says something else than what stands, and contradicts it.

value = another value than that of the most effective row about the fact that it was shown; silent where it was shown none
stated = confidence; edge: contradicts that row
"""

from malsim.base.parameters import Param
from malsim.memory.schema import NONE
from malsim.sim.writers.engine.claim_context import ClaimContext, ClaimDraft, DraftEdge

confidence = Param(0.7, "1", "what it states", 0.01, 1.0)
habits = {"disputes": 0.0}


def write(context: ClaimContext, *, confidence: float) -> ClaimDraft:
    push = context.push
    best = push.best(push.value != NONE)
    rival, value = push.pick(push.row, best), push.pick(push.value, best)
    return ClaimDraft(
        context.another(value),
        context.stated(confidence, 0.0),
        edges=(DraftEdge("contradicts", rival),),
        speaks=rival != NONE,
    )
