"""The published law (MAL): each tick computes effective confidence from calibrated confidence, support and challenge.

    effective_i = clamp01(stated_i · factor_w(i) + a · tanh(support_i) − b · tanh(challenge_i))
    support_i   = Σ_j w_ij · effective_j  over the edges that point at i;  challenge_i likewise over those that contradict it
    factor_w    = calibration of a writer, from its record
    score = belief = effective

The memory is a graph of claims with edges, currency and versions; its parameters are the `[rules]` of a scenario.
Source: the published design.
Left out: nothing; malsim's own memory follows this law.
"""

from malsim.laws.engine.graph_plant import Graph
from malsim.memory.rules import Rules

believes = True


def plant() -> Graph:
    return Graph(rules=Rules())
