"""Store one record per value, and rank records by similarity, matching words, recency and utility.

    write:  same → updated = max(updated, t), utility = c;  else a record, updated = t, utility = c
    tick:   a record dies at the end of its life, which a repetition does not extend
    score = .5 sim + .2 words + .2 · 2^(−(now − updated) / half_life) + .1 clamp(utility)

All records about an object contain its name, so sim and words are 1. No score uses relations, so contradictions have no
effect. To run ARW's records themselves, with spelling similarity: `--memory malsim.adapters.arw:records`.
Source: ARW's documentation of its kernel (c773a1c1): select_hybrid, the lane semantic.
Left out: the embedding, tags, links, lane caps, and the overlay.

>>> from malsim.laws import play
>>> play("arw", "0 A .9", "1 B .5"), play("arw", "0 A .9", "1 B .5", "2 A .9")[0]
([('A', 0.8025), ('B', 0.95)], ('A', 0.99))
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.laws.engine.items import Change, Claim, Columns, ItemField, Items, first, none
from malsim.memory.graph.arrays import Array

updated = ItemField("time", "d", "time of the last put")
utility = ItemField("stated", "1", "confidence stated at the last put")
half_life = Param(0.25, "d", "time in which recency halves; ARW's code uses it as an e-folding time", 0.001, 1e4)
life = Param(90.0, "d", "lifetime of a record in lane semantic, from its creation", 0.001, 1e6)


def write(items: Items, claim: Claim) -> Change:
    again = first(claim.same)
    columns = {
        "updated": np.where(again, np.maximum(items["updated"], claim.time), items["updated"]),
        "utility": np.where(again, claim.stated, items["utility"]),
    }
    return Change(makes=none(again), taken=again, items=columns)


def tick(items: Items, now: float, *, life: float) -> Columns:
    return {"alive": items.age(now) < life}


def rank(items: Items, now: float, *, half_life: float) -> Array:
    recency = np.exp2(-items.age(now, "updated") / half_life)
    return 0.7 + 0.2 * recency + 0.1 * np.clip(items["utility"], 0.0, 1.0)
