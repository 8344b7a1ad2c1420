"""Writer that makes one claim about each fact and never updates it.

value = truth with probability accuracy at its first claim about the fact; silent about the fact afterwards
stated = accuracy

Without other writers, nothing contradicts the claim, and only its currency shows its age.
"""

from malsim.base.parameters import Param
from malsim.memory.schema import NONE
from malsim.sim.writers.engine.claim_context import ClaimContext, ClaimDraft

accuracy = Param(0.95, "1", "share of its claims that are true when made", 0.0, 1.0)
habits = {"disputes": 0.0}


def write(context: ClaimContext, *, accuracy: float) -> ClaimDraft:
    is_first = (context.latest.row == NONE) & ~context.latest.again
    return ClaimDraft(context.sense(accuracy), context.stated(accuracy, 0.0), speaks=is_first)
