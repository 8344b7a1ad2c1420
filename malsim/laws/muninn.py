"""Take a contradiction for evidence against both of its sides.

    write:  same → p ← min(1, p + gain);  else an item, p = 1;  with rivals, the item and each rival: p ← p · left
    score = belief = p

Source: scrypster/muninndb 0c6b88d and its pull request 747: one contradiction took both sides from 1 to .0709.
Left out: the update that gives the factor, neutral evidence, associations, and search.
Proven: not run; its confidence worker knows no such factor, which is the pull request's.

>>> from malsim.laws import play
>>> play("muninn", "0 A", "1 B")
[('A', 0.0709), ('B', 0.0709)]
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.laws.engine.items import Change, Claim, ItemField, Items, first, none, some, state_column

ordered = True
p = ItemField(1.0, "1", "confidence")
gain = Param(0.1, "1", "confidence gained by a repetition", 0.0, 1.0)
left = Param(0.0709, "1", "share that a contradiction leaves the older side", 0.0, 1.0)
left_newer = Param(0.0709, "1", "share that it leaves the newer side; 1: repaired", 0.0, 1.0)


def write(items: Items, claim: Claim, *, gain: float, left: float, left_newer: float) -> Change:
    again = first(claim.same)
    makes = none(again)
    stronger = np.where(again, np.minimum(1.0, items["p"] + gain), items["p"])
    after = np.where(makes & claim.rival, items["p"] * left, stronger)
    start = np.where(some(claim.rival), left_newer, 1.0)
    return Change(makes=makes, taken=again, new={"p": start}, items={"p": after})


rank = belief = state_column("p")
