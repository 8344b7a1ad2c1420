"""Decay salience at every sweep from the value that the sweep before left, over the whole age again.

    write:  rivals: s = 0;  an item, s = 1, clock = t
    tick:   s ← s · 2^(−(now − clock) / half_life), clock not moved;  s < least dies
    score = s

The exponents add up over the sweeps, so that the more often it is swept, the faster it forgets.
Source: BennettSchwartz/membrane 8408c8c: the decay sweep.
Left out: reinforcement and penalties by callers, sensitivity, and retrieval.
Proven: equal on 50 of 50 drawn streams (to 1e-9): decay.Exponential; the sweep that calls it, its pruning and who is
penalised are rewritten in the test.

>>> from malsim.laws import play
>>> play("membrane", "0 A", "2 tick"), play("membrane", "0 A", "1 tick", "2 tick")
([('A', 0.954842)], [('A', 0.933033)])
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.laws.engine.items import Change, Claim, Columns, ItemField, Items, state_column

ordered = True
s = ItemField(1.0, "1", "salience")
clock = ItemField("time", "d", "when it was claimed")
half_life = Param(30.0, "d", "half-life that is meant", 0.001, 100_000.0)
least = Param(0.001, "1", "salience below which a sweep deletes it", 0.0, 1.0)


def write(items: Items, claim: Claim) -> Change:
    return Change(items={"s": np.where(claim.rival, 0.0, items["s"])})


def tick(items: Items, now: float, *, half_life: float, least: float) -> Columns:
    left = items["s"] * np.exp2(-items.age(now, "clock") / half_life)
    return {"s": left, "alive": left >= least}


rank = state_column("s")
