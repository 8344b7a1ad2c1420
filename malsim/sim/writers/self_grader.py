"""Judges its own outcomes, and finds them good.

claim n, where n mod (1 + grades) = 0: value = truth with probability accuracy; stated = confidence
the others are grades: claims of kind ver, about no fact, that support its own latest about the fact

A grade counts as an outcome, and nobody disputes it: the share of its outcomes that are wrong shrinks by 1 / (1 + grades).
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.memory.schema import NONE
from malsim.sim.writers.engine.claim_context import ClaimContext, ClaimDraft, DraftEdge

accuracy = Param(0.5, "1", "share of its proper claims that are true when made", 0.0, 1.0)
confidence = Param(0.9, "1", "what it states", 0.01, 1.0)
grades = Param(4.0, "claims", "grades it gives itself for each proper claim", 0.0, 1_000.0)


def write(context: ClaimContext, *, accuracy: float, confidence: float, grades: float) -> ClaimDraft:
    own = context.own
    graded = (context.turn % (1 + int(grades)) != 0) & (own.row != NONE)
    value = np.where(graded, own.value, context.sense(accuracy))
    grade = DraftEdge("supports", np.where(graded, own.row, NONE))
    return ClaimDraft(value, context.stated(confidence, 0.0), edges=(grade,), graded=graded)
