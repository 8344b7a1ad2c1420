"""Is wrong more often than it says.

value = truth with probability accuracy, else another value; stated = confidence + noise · N(0, 1), confidence > accuracy
"""

from malsim.parameters import Param
from malsim.sim.engine.claim_context import Occasion, Said

accuracy = Param(0.6, "1", "share of its claims that are true when made", 0.0, 1.0)
confidence = Param(0.95, "1", "what it states", 0.01, 1.0)
noise = Param(0.02, "1", "spread of what it states", 0.0, 1.0)


def write(occasion: Occasion, *, accuracy: float, confidence: float, noise: float) -> Said:
    """One claim an occasion."""
    return Said(occasion.sense(accuracy), occasion.stated(confidence, noise))
