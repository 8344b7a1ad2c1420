"""Writer that reports what was true some time ago, and replaces its earlier claim.

value(t) = truth(t − lag) with probability accuracy, else another value; stated = accuracy + noise · N(0, 1)
edge: supersedes the writer's earlier claim about the fact, which adds a version
"""

from malsim.base.parameters import Param
from malsim.sim.writers.engine.claim_context import ClaimContext, ClaimDraft

accuracy = Param(0.95, "1", "share of its claims that were true one lag earlier", 0.0, 1.0)
lag = Param(5.0, "d", "age of its observations", 0.0, 100_000.0)
noise = Param(0.02, "1", "standard deviation of the stated confidence", 0.0, 1.0)


def write(context: ClaimContext, *, accuracy: float, lag: float, noise: float) -> ClaimDraft:
    return ClaimDraft(context.sense(accuracy, lag=lag), context.stated(accuracy, noise))
