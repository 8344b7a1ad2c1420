"""Repeats the last value it read, as if it were news.

value = that of the best ranked row about the fact that it was shown, derived_from that row; silent where it was shown none
stated = confidence

It never looks at the world, so it renews the date of what may have ceased to be true.
"""

from malsim.memory.schema import NONE
from malsim.parameters import Param
from malsim.sim.engine.claim_context import Edge, Occasion, Said

confidence = Param(0.8, "1", "what it states", 0.01, 1.0)
habits = {"disputes": 0.0, "supports": 0.0}


def write(occasion: Occasion, *, confidence: float) -> Said:
    """One claim an occasion, where there is something to repeat."""
    read, value = occasion.seen.row[:, 0], occasion.seen.value[:, 0]
    speaks = (read != NONE) & (value != NONE)
    return Said(value, occasion.stated(confidence, 0.0), edges=(Edge("derived_from", read),), speaks=speaks)
