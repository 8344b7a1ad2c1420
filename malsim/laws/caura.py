"""Mark items that a newer claim contradicts, and raise the score of fading items when they are read.

    write:  same → nothing;  else rivals with t ≤ the new t are marked, and an item
    read:   n += 1, recalled = now
    score = .925 · max(.7, 1 − .3 age / fresh) · (1 + .1 max(0, 1 − (now − recalled) / 14) n / (n + 10)) · (½ if marked)

Source: caura-ai/caura b65ecbe.
Left out: embeddings, entity boosts, and the model that finds contradictions.
Proven: equal on 50 of 50 drawn streams (to 1e-9): the factors in the query of memory_scored_search, evaluated on numbers,
for a memory without a type (types have 14 to 365 days instead of 90); the bench decides which items are marked.

>>> from malsim.laws import play
>>> play("caura", "0 A", "1 B", "2 A")
[('A', 0.459417), ('B', 0.921917)]
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.laws.engine.items import Change, Claim, Columns, ItemField, Items, Query, none
from malsim.memory.graph.arrays import Array

ordered = True
marked = ItemField(0.0, "1", "1 after a later claim has contradicted the item")
n = ItemField(0.0, "1", "number of reads")
recalled = ItemField("time", "d", "time of the last read; before the first read, of the claim")
fresh = Param(90.0, "d", "time in which freshness falls by .3", 0.001, 100_000.0)


def write(items: Items, claim: Claim) -> Change:
    makes = none(claim.same)
    beaten = makes & claim.rival & (items.time <= claim.time)
    return Change(makes=makes, taken=claim.same, items={"marked": np.where(beaten, 1.0, items["marked"])})


def read(items: Items, query: Query) -> Columns:
    return {"n": items["n"] + query.used, "recalled": np.where(query.used, query.now, items["recalled"])}


def rank(items: Items, now: float, *, fresh: float) -> Array:
    freshness = np.maximum(0.7, 1.0 - 0.3 * items.age(now) / fresh)
    recall = np.maximum(0.0, 1.0 - items.age(now, "recalled") / 14.0) * items["n"] / (items["n"] + 10.0)
    return 0.925 * freshness * (1.0 + 0.1 * recall) * np.where(items["marked"] == 1.0, 0.5, 1.0)
