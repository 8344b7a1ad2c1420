"""End facts as graphiti does, but look for what a new fact contradicts in the whole graph.

    write:  an item with equal o and v → absorbed, nothing else;  else an item, inv = ∅;
            each item m with another value, about whatever object, and t_m < t, inv_m = ∅:  inv_m = t
    score = belief = 1 if inv = ∅ else 0

Source: getzep/graphiti 993e081a: candidates for invalidation, searched over all edges; reports of unrelated facts retired.
Left out: search and the model's verdict, which spares most candidates; here each is taken for a contradiction.
Proven: no function to run: the verdict that spares most candidates is left out.

>>> from malsim.laws import play
>>> play("graphiti_everywhere", "0 A", "1 B")
[('A', 0.0), ('B', 1.0)]
"""

import numpy as np

from malsim.laws.engine.items import Change, Claim, ItemField, Items, none
from malsim.memory.graph.arrays import Array

scope = "replication"
inv = ItemField(np.inf, "d", "when the fact ended; infinite while it holds")


def write(items: Items, claim: Claim) -> Change:
    makes = none(claim.same)
    other = items.alive & ((items.object != claim.object) | (items.value != claim.value))
    ended = makes & other & np.isinf(items["inv"]) & (items.time < claim.time)
    return Change(makes=makes, taken=claim.same, items={"inv": np.where(ended, claim.time, items["inv"])})


def rank(items: Items, _: float) -> Array:
    return np.isinf(items["inv"]).astype(np.float64)


belief = rank
