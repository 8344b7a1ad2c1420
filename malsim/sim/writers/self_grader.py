"""Writer that grades its own claims, always favourably.

claim n, where n mod (1 + grades) = 0: value = truth with probability accuracy; stated = confidence
all other claims are grades: of kind ver, not about a fact, in support of the writer's latest claim about the fact

A grade counts as an undisputed outcome, so the share of wrong outcomes is multiplied by 1 / (1 + grades).
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.memory.schema import NONE
from malsim.sim.writers.engine.claim_context import ClaimContext, ClaimDraft, DraftEdge

accuracy = Param(0.5, "1", "share of its claims about facts that are true when made", 0.0, 1.0)
confidence = Param(0.9, "1", "stated confidence", 0.01, 1.0)
grades = Param(4.0, "claims", "grades per claim about a fact", 0.0, 1_000.0)


def write(context: ClaimContext, *, accuracy: float, confidence: float, grades: float) -> ClaimDraft:
    latest = context.latest
    graded = (context.turn % (1 + int(grades)) != 0) & (latest.row != NONE)
    value = np.where(graded, latest.value, context.sense(accuracy))
    grade = DraftEdge("supports", np.where(graded, latest.row, NONE))
    return ClaimDraft(value, context.stated(confidence, 0.0), edges=(grade,), graded=graded)
