"""Decay confidence at every sweep from the value that the sweep before left, over the whole age again.

    write:  same → p ← min(.95, p + gain), clock = t;  else p = c, clock = t
    tick:   p ← p · e^(−rate · (now − clock)), clock not moved;  p < least dies
    score = belief = p

Source: moonrunnerkc/adaptive-belief-ecology-system ecb6d18.
Left out: tension, relevance, mutation of beliefs, and search.

>>> from malsim.laws import play
>>> play("abes", "0 A", "1 tick"), play("abes", "0 A", ".5 tick", "1 tick")
([('A', 0.210836)], [('A', 0.115709)])
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.laws.engine.items import Change, Claim, Columns, ItemField, Items, first, none, state_column

p = ItemField("stated", "1", "confidence")
clock = ItemField("time", "d", "when it was last said")
gain = Param(0.05, "1", "confidence gained by a repetition", 0.0, 1.0)
rate = Param(1.2, "1/d", "decay of confidence", 0.0, 100.0)
least = Param(0.1, "1", "confidence below which a sweep deletes it", 0.0, 1.0)


def write(items: Items, claim: Claim, *, gain: float) -> Change:
    again = first(claim.same)
    columns = {
        "p": np.where(again, np.minimum(0.95, items["p"] + gain), items["p"]),
        "clock": np.where(again, claim.time, items["clock"]),
    }
    return Change(makes=none(again), taken=again, items=columns)


def tick(items: Items, now: float, *, rate: float, least: float) -> Columns:
    left = items["p"] * np.exp(-rate * items.age(now, "clock"))
    return {"p": left, "alive": left >= least}


rank = belief = state_column("p")
