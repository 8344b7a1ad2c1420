"""Earns a track record, then turns on it.

value = truth with probability accuracy while it has made fewer than loyal claims; never the truth from then on
stated = accuracy before, confidence after
"""

import numpy as np

from malsim.parameters import Param
from malsim.sim.engine.claim_context import Occasion, Said

accuracy = Param(0.95, "1", "share of its claims that are true while it is loyal", 0.0, 1.0)
loyal = Param(20.0, "claims", "claims it makes before it turns", 0.0, 1e9)
confidence = Param(0.95, "1", "what it states once it has turned", 0.01, 1.0)


def write(occasion: Occasion, *, accuracy: float, loyal: float, confidence: float) -> Said:
    """One claim an occasion."""
    asleep = occasion.turn < loyal
    value = np.where(asleep, occasion.sense(accuracy), occasion.sense(0.0))
    return Said(value, np.where(asleep, occasion.stated(accuracy, 0.0), occasion.stated(confidence, 0.0)))
