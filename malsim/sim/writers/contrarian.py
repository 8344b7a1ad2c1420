"""Says something else than what stands, and contradicts it.

value = another value than that of the most effective row about the fact that it was shown; silent where it was shown none
stated = confidence; edge: contradicts that row
"""

from malsim.memory.schema import NONE
from malsim.parameters import Param
from malsim.sim.engine.claim_context import Edge, Occasion, Said

confidence = Param(0.7, "1", "what it states", 0.01, 1.0)
habits = {"disputes": 0.0}


def write(occasion: Occasion, *, confidence: float) -> Said:
    """One claim an occasion, where there is something to deny."""
    seen = occasion.seen
    best = seen.best(seen.value != NONE)
    denied, value = seen.pick(seen.row, best), seen.pick(seen.value, best)
    return Said(
        occasion.another(value),
        occasion.stated(confidence, 0.0),
        edges=(Edge("contradicts", denied),),
        speaks=denied != NONE,
    )
