"""One source behind many names, each supporting what the first of them said.

value = one reading of the source at the time, right with probability accuracy, the same for every name
stated = confidence; every name speaks once a fact, and each but the first supports the first

`count` is the number of names. However many they are, the cell gains at most the support ceiling.
"""

import numpy as np

from malsim.memory.schema import NONE
from malsim.parameters import Param
from malsim.sim.engine.claim_context import Edge, Occasion, Said

accuracy = Param(0.0, "1", "probability that what the source pushes is true", 0.0, 1.0)
confidence = Param(0.7, "1", "what each name states", 0.01, 1.0)
habits = {"disputes": 0.0, "revises": False}


def write(occasion: Occasion, *, accuracy: float, confidence: float) -> Said:
    """One claim an occasion, until the name has spoken."""
    value = occasion.sense(accuracy, member=np.zeros_like(occasion.member), turn=occasion.fact)
    first = Edge("supports", occasion.own.first)
    return Said(
        value, occasion.stated(confidence, 0.0), edges=(first,), speaks=(occasion.own.row == NONE) & ~occasion.own.again
    )
