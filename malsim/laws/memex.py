"""Raise the confidence of agreeing items by 0.1, and lower the earlier of two disagreeing items by 0.2.

    write:  with each earlier item m about o, in order of creation
            same value:   p = 1,  p_m ← min(1, p_m + agree)
            another:      the one with the earlier t (m on a tie) ← max(0, its p − contradict)
            p = 1 − contradict or 1, as the last of them decides, since each starts from the stored p = 1
    score = p, 0 below hidden;  belief = p

Source: JasperHG90/memex d2061d6: the contradiction engine.
Left out: extraction, the model's verdicts, and search.
Proven: equal on 50 of 50 drawn streams (to 1e-9): ContradictionEngine._process_flagged_unit and _resolve_authority; the
bench decides which items agree.

>>> from malsim.laws import play
>>> play("memex", "0 A", "1 B")
[('A', 0.8), ('B', 1.0)]
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.laws.engine.items import Change, Claim, ItemField, Items, some, state_column
from malsim.memory.graph.arrays import Array

ordered = True
p = ItemField(1.0, "1", "confidence")
agree = Param(0.1, "1", "gain of each of two agreeing items", 0.0, 1.0)
contradict = Param(0.2, "1", "loss of the earlier of two disagreeing items", 0.0, 1.0)
hidden = Param(0.3, "1", "confidence below which an item is not shown", 0.0, 1.0)


def write(items: Items, claim: Claim, *, agree: float, contradict: float) -> Change:
    late = claim.time < items.time  # the claim is older than the item
    worth = items["p"]
    after = np.where(claim.same, np.minimum(1.0, worth + agree), worth)
    after = np.where(claim.rival & ~late, np.maximum(0.0, worth - contradict), after)
    beaten, index = claim.rival & late, np.arange(late.shape[1])
    last = np.where(claim.same | beaten, index, -1).max(axis=1, keepdims=True, initial=-1)
    loses = some(beaten & (index == last))
    return Change(new={"p": np.where(loses, max(0.0, 1.0 - contradict), 1.0)}, items={"p": after})


def rank(items: Items, _: float, *, hidden: float) -> Array:
    return np.where(items["p"] < hidden, 0.0, items["p"])


belief = state_column("p")
