"""Says something else than what stands, and contradicts it.

value = another value than that of the most effective row about the fact that it was shown; silent where it was shown none
stated = confidence; edge: contradicts that row
"""

from malsim.memory.schema import NONE
from malsim.parameters import Param
from malsim.sim.engine.claim_context import ClaimContext, ClaimDraft, DraftEdge

confidence = Param(0.7, "1", "what it states", 0.01, 1.0)
habits = {"disputes": 0.0}


def write(context: ClaimContext, *, confidence: float) -> ClaimDraft:
    """One draft a claim, where there is something to deny."""
    seen = context.seen
    best = seen.best(seen.value != NONE)
    denied, value = seen.pick(seen.row, best), seen.pick(seen.value, best)
    return ClaimDraft(
        context.another(value),
        context.stated(confidence, 0.0),
        edges=(DraftEdge("contradicts", denied),),
        speaks=denied != NONE,
    )
