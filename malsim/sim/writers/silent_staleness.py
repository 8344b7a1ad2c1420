"""Says a thing once and never comes back to it, whatever becomes of it.

value = truth with probability accuracy when it first writes about the fact; it never writes about that fact again
stated = accuracy

Where no other writer covers the fact, nothing ever contradicts the claim: only its currency tells that it has grown old.
"""

from malsim.base.parameters import Param
from malsim.memory.schema import NONE
from malsim.sim.writers.engine.claim_context import ClaimContext, ClaimDraft

accuracy = Param(0.95, "1", "share of its claims that are true when made", 0.0, 1.0)
habits = {"disputes": 0.0}


def write(context: ClaimContext, *, accuracy: float) -> ClaimDraft:
    return ClaimDraft(
        context.sense(accuracy), context.stated(accuracy, 0.0), speaks=(context.own.row == NONE) & ~context.own.again
    )
