"""Keep an exponential moving average of the confidence stated for each value, so that recent claims count most.

    write:  for each item about o:  b ← b + gain (c [v_i = v] − b);
            a new value starts from c if it is the first about o, else from gain · c
    score = belief = b

Source: the exponential moving average, a common one-parameter filter.
Left out: writers and times.

>>> from malsim.laws import play
>>> play("average", "0 A", "1 B", "2 B", "3 B")
[('A', 0.3584), ('B', 0.3416)]
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.laws.engine.items import Change, Claim, ItemField, Items, none, state_column

ordered = True
b = ItemField(0.0, "1", "average confidence stated for the value")
gain = Param(0.2, "1", "share of the gap that each claim closes", 0.0, 1.0)


def write(items: Items, claim: Claim, *, gain: float) -> Change:
    target = np.where(claim.same, claim.stated, 0.0)
    start = np.where(none(items.alive), claim.stated, gain * claim.stated)
    average = items["b"] + gain * (target - items["b"])
    return Change(makes=none(claim.same), taken=claim.same, new={"b": start}, items={"b": average})


rank = belief = state_column("b")
