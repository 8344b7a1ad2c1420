"""Decay the already decayed confidence at every sweep, each time over the item's full age.

    write:  same → p ← min(.95, p + gain), clock = t,
            nothing where p ≥ .95 or within ten seconds of clock;  else p = c, clock = t
    tick:   p ← p · left^(24 (now − clock)), clock not moved;  p < least dies
    score = belief = p

Source: moonrunnerkc/adaptive-belief-ecology-system ecb6d18.
Left out: tension, relevance, belief mutation, and search.
Proven: equal on 50 of 50 drawn streams (to 1e-9): DecayControllerAgent.process_beliefs, ReinforcementAgent.reinforce;
similarities are set by the bench.

>>> from malsim.laws import play
>>> play("abes", "0 A", "1 tick"), play("abes", "0 A", ".5 tick", "1 tick")
([('A', 0.620657)], [('A', 0.584425)])
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.laws.engine.items import Change, Claim, Columns, ItemField, Items, first, none, state_column

COOLDOWN = 10.0 / 86_400.0  # ten seconds, in days
p = ItemField("stated", "1", "confidence")
clock = ItemField("time", "d", "time of the last claim")
gain = Param(0.05, "1", "confidence gained by a repetition", 0.0, 1.0)
left = Param(0.995, "1/h", "share of the confidence that remains after an hour", 0.0, 1.0)
least = Param(0.1, "1", "confidence below which a sweep deletes an item", 0.0, 1.0)


def write(items: Items, claim: Claim, *, gain: float) -> Change:
    again = first(claim.same)
    raised = again & (items["p"] < 0.95) & (claim.time - items["clock"] >= COOLDOWN)
    columns = {
        "p": np.where(raised, np.minimum(0.95, items["p"] + gain), items["p"]),
        "clock": np.where(raised, claim.time, items["clock"]),
    }
    return Change(makes=none(again), taken=again, items=columns)


def tick(items: Items, now: float, *, left: float, least: float) -> Columns:
    worth = items["p"] * left ** (24.0 * items.age(now, "clock"))
    return {"p": worth, "alive": worth >= least}


rank = belief = state_column("p")
