"""The published law: a claim's worth is its calibrated confidence, raised by support and lowered by challenge, at each tick.

    effective_i = clamp01(stated_i · factor_w(i) + a · tanh(support_i) − b · tanh(challenge_i))
    support_i   = Σ_j w_ij · effective_j  over the edges that point at i;  challenge_i likewise over those that contradict it
    factor_w    = a writer's calibration, from its record
    score = belief = effective

It is a graph of claims and keeps edges, currency and versions; its numbers are the rules of a scenario, `[rules]`.
Source: the published design.
Left out: nothing; this is the memory that the bench is built on.
"""

from malsim.laws.engine.graph_plant import Graph
from malsim.memory.rules import Rules

believes = True


def plant() -> Graph:
    return Graph(rules=Rules())
