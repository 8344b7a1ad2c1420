"""Let strength fall with time, and start it anew at every use.

    write:  same → n += 1, clock = t;  else an item, n = 0, clock = t
    tick:   strength < forgotten dies
    read:   n += 1, clock = now
    score = strength = min(1, ½ e^(−.16 · .6 (now − clock)) (1 + .2 n))

Source: sachitrafa/YourMemory 5a08d41.
Left out: importance (½ here), embeddings and search.

>>> from malsim.laws import play
>>> play("yourmemory", "0 A", "10 tick"), play("yourmemory", "0 A", *["10 read"] * 5)
([('A', 0.191446)], [('A', 1.0)])
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.laws.engine.items import Change, Claim, Columns, ItemField, Items, Query, first, none
from malsim.memory.graph.arrays import Array

n = ItemField(0.0, "1", "times it was said again or read")
clock = ItemField("time", "d", "when it was last said or read")
forgotten = Param(0.05, "1", "strength below which a sweep deletes it", 0.0, 1.0)
rate = Param(0.16, "1/d", "decay of strength at importance 0; an item of importance ½ decays at .6 of it", 0.0, 10.0)


def write(items: Items, claim: Claim) -> Change:
    again = first(claim.same)
    columns = {"n": items["n"] + again, "clock": np.where(again, claim.time, items["clock"])}
    return Change(makes=none(again), taken=again, items=columns)


def tick(items: Items, now: float, *, forgotten: float, rate: float) -> Columns:
    return {"alive": rank(items, now, rate=rate) >= forgotten}


def read(items: Items, query: Query) -> Columns:
    return {"n": items["n"] + query.used, "clock": np.where(query.used, query.now, items["clock"])}


def rank(items: Items, now: float, *, rate: float) -> Array:
    return np.minimum(1.0, 0.5 * np.exp(-rate * 0.6 * items.age(now, "clock")) * (1.0 + 0.2 * items["n"]))
