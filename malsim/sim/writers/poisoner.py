"""Attacks its facts: wrong every time, and sure of it.

value = never the truth at the time; stated = confidence
edge to the most effective rival it was shown: supersedes with probability supersedes, else contradicts

Name its target with `facts = ["…"]`. With supersedes = 1 it takes rivals off the record instead of arguing with them.
"""

import numpy as np

from malsim.memory.schema import NONE
from malsim.parameters import Param
from malsim.sim.engine.claim_context import Edge, Occasion, Said

confidence = Param(0.95, "1", "what it states", 0.01, 1.0)
supersedes = Param(0.0, "1", "probability of superseding the rival instead of contradicting it", 0.0, 1.0)
habits = {"disputes": 0.0, "revises": False}


def write(occasion: Occasion, *, confidence: float, supersedes: float) -> Said:
    """One claim an occasion."""
    value, seen = occasion.sense(0.0), occasion.seen
    rival = seen.pick(seen.row, seen.best((seen.value != NONE) & (seen.value != value[:, None])))
    takes = occasion.happens(supersedes, "supersedes")
    edges = (Edge("supersedes", np.where(takes, rival, NONE)), Edge("contradicts", np.where(takes, NONE, rival)))
    return Said(value, occasion.stated(confidence, 0.0), edges=edges)
