"""Decay the already decayed salience at every sweep, each time over the item's full age.

    write:  rivals: s = 0;  an item, s = 1, clock = t
    tick:   s ← s · 2^(−(now − clock) / half_life), clock not moved;  s < least dies
    score = s

The exponents add up over the sweeps, so more frequent sweeps mean faster forgetting.
Source: BennettSchwartz/membrane 8408c8c, the decay sweep.
Left out: reinforcement and penalties by callers, sensitivity, and retrieval.
Proven: equal on 50 of 50 drawn streams (to 1e-9): decay.Exponential; the sweep that calls it, pruning and penalties
are rewritten in the test.

>>> from malsim.laws import play
>>> play("membrane", "0 A", "2 tick"), play("membrane", "0 A", "1 tick", "2 tick")
([('A', 0.954842)], [('A', 0.933033)])
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.laws.engine.items import Change, Claim, Columns, ItemField, Items, state_column

ordered = True
s = ItemField(1.0, "1", "salience")
clock = ItemField("time", "d", "time of the claim")
half_life = Param(30.0, "d", "intended half-life", 0.001, 100_000.0)
least = Param(0.001, "1", "salience below which a sweep deletes an item", 0.0, 1.0)


def write(items: Items, claim: Claim) -> Change:
    return Change(items={"s": np.where(claim.rival, 0.0, items["s"])})


def tick(items: Items, now: float, *, half_life: float, least: float) -> Columns:
    after = items["s"] * np.exp2(-items.age(now, "clock") / half_life)
    return {"s": after, "alive": after >= least}


rank = state_column("s")
