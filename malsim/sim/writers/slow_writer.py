"""Writer that reads a value and, some time later, overwrites whatever value is current by then.

turn 2n: reads the highest-ranked row about its fact and observes the fact; writes nothing
turn 2n + 1, delay days later: value = the observed value, right with probability accuracy; stated = accuracy
edge: supersedes the most effective row shown at the time of writing

With if_seen = 0 the writer overwrites claims made in between (a lost update). With if_seen = 1 a write is refused if the
highest-ranked row is no longer the row that was read, and the writer reads again. Set its fact with `facts = ["…"]`.
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.memory.graph.arrays import Array, Ints
from malsim.memory.schema import NONE
from malsim.sim.world.draws import Draws
from malsim.sim.writers.engine.claim_context import ClaimContext, ClaimDraft, DraftEdge

accuracy = Param(0.95, "1", "share of its observations that are true when made", 0.0, 1.0)
delay = Param(3.0, "d", "time from reading to writing", 0.0, 1_000.0)
if_seen = Param(0.0, "1", "1: refuse a write if the row that was read has been replaced; 0: admit it", 0.0, 1.0)
habits = {"disputes": 0.0, "supports": 0.0, "revises": False}
state = {"seen": float(NONE)}


def gap(draws: Draws, *, rep: Ints, member: Ints, turn: Ints, rate: float, delay: float) -> Array:
    pause = draws.exponential("gap", rep=rep, member=member, turn=turn) / rate
    return np.where(turn % 2 == 0, pause, delay)


def write(context: ClaimContext, *, accuracy: float, delay: float, if_seen: float) -> ClaimDraft:
    push, writes = context.push, context.turn % 2 == 1
    rival = push.pick(push.row, push.best(push.value != NONE))
    top = push.row[:, 0]
    stale = writes & (if_seen > 0.5) & (top != context.state["seen"])  # noqa: PLR2004  # a switch
    return ClaimDraft(
        context.sense(accuracy, lag=delay), context.stated(accuracy, 0.0), edges=(DraftEdge("supersedes", rival),),
        speaks=writes, stale=stale, state={"seen": np.where(writes, context.state["seen"], top)},
    )  # fmt: skip
