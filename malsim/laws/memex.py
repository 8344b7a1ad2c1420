"""Raise what agrees by a tenth, and lower the earlier of two that disagree by two tenths.

    write:  p = 1; then with each earlier item m about o, in order of creation
            same value:   p ← min(1, p + agree),  p_m ← min(1, p_m + agree)
            another:      the one with the earlier t (m on a tie) ← max(0, its p − contradict)
    score = p, 0 below hidden;  belief = p

Source: JasperHG90/memex d2061d6: the contradiction engine.
Left out: extraction, the model's verdicts, and search.

>>> from malsim.laws import play
>>> play("memex", "0 A", "1 B")
[('A', 0.8), ('B', 1.0)]
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.laws.engine.items import Change, Claim, ItemField, Items, state_column
from malsim.memory.graph.arrays import Array

ordered = True
p = ItemField(1.0, "1", "confidence")
agree = Param(0.1, "1", "gain of both where two items agree", 0.0, 1.0)
contradict = Param(0.2, "1", "loss of the earlier where two disagree", 0.0, 1.0)
hidden = Param(0.3, "1", "confidence below which an item is not shown", 0.0, 1.0)


def write(items: Items, claim: Claim, *, agree: float, contradict: float) -> Change:
    late = claim.time < items.time  # the claim is the earlier of the two
    worth = items["p"]
    after = np.where(claim.same, np.minimum(1.0, worth + agree), worth)
    after = np.where(claim.rival & ~late, np.maximum(0.0, worth - contradict), after)
    new = np.ones(len(late))
    for same, beaten in zip(claim.same.T, (claim.rival & late).T, strict=True):
        new = np.where(same, np.minimum(1.0, new + agree), np.where(beaten, np.maximum(0.0, new - contradict), new))
    return Change(new={"p": new[:, None]}, items={"p": after})


def rank(items: Items, _: float, *, hidden: float) -> Array:
    return np.where(items["p"] < hidden, 0.0, items["p"])


belief = state_column("p")
