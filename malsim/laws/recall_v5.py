"""The published law (MAL) as computed by its reference implementation, Recall v5.

    effective_i, support_i, challenge_i as under mal;  factor_w from Brier penalties;  each score is recomputed at admission

The memory is a graph of claims with the parameters of `Rules.recall_v5()`.
Source: the reference memory, release 5.
Left out: nothing that appears in its recorded runs.
"""

from malsim.laws.engine.graph_plant import Graph
from malsim.memory.rules import Rules

believes = True


def plant() -> Graph:
    return Graph(rules=Rules.recall_v5())
