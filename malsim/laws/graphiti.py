"""Give each fact a validity interval: a later fact ends an earlier one, and a repeated claim is absorbed.

    write:  an item with equal o and v → absorbed, nothing else;  else a new item n with
            inv_n = min { t_m : rivals m, t_m > t_n }, ∅ if none;
            then each rival m with t_m < t_n, unless inv_m ≤ t_n or inv_n ≤ t_m:  inv_m = t_n
    score = belief = 1 if inv = ∅ else 0

Source: getzep/graphiti 993e081a = 0.29.3, graphiti_core/utils/maintenance/edge_operations.py.
Left out: extraction, the model's verdicts on duplicates and contradictions, embeddings and search.
Proven: equal on 50 of 50 drawn streams (to 1e-9): resolve_extracted_edge and resolve_edge_contradictions; the bench
decides which facts contradict each other.

>>> from malsim.laws import play
>>> play("graphiti", "0 A", "1 B", "2 A")
[('A', 0.0), ('B', 1.0)]
"""

import numpy as np

from malsim.laws.engine.items import Change, Claim, ItemField, Items, none
from malsim.memory.graph.arrays import Array

inv = ItemField(np.inf, "d", "end of the fact; infinite while it holds")


def write(items: Items, claim: Claim) -> Change:
    end = np.where(claim.rival & (items.time > claim.time), items.time, np.inf).min(axis=1, keepdims=True, initial=np.inf)
    makes = none(claim.same)
    overlaps = (items["inv"] > claim.time) & (end > items.time)
    ended = makes & claim.rival & overlaps & (items.time < claim.time)
    return Change(makes=makes, taken=claim.same, new={"inv": end}, items={"inv": np.where(ended, claim.time, items["inv"])})


def rank(items: Items, _: float) -> Array:
    return np.isinf(items["inv"]).astype(np.float64)


belief = rank
