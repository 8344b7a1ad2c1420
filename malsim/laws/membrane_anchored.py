"""Decay salience as `membrane` does, but always from its initial value, so that the number of sweeps has no effect.

    write:  rivals: s = 0;  an item, s = 1, clock = t
    tick:   s ← 2^(−(now − clock) / half_life) where s > 0;  s < least dies
    score = s

Source: BennettSchwartz/membrane, pull request 25, which repairs the decay sweep.
Left out: reinforcement and penalties by callers, sensitivity, and retrieval.
Proven: no function to run: the repair is not part of the pinned commit.

>>> from malsim.laws import play
>>> play("membrane_anchored", "0 A", "2 tick"), play("membrane_anchored", "0 A", "1 tick", "2 tick")
([('A', 0.954842)], [('A', 0.954842)])
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.laws import membrane
from malsim.laws.engine.items import Columns, Items

ordered = True
s, clock = membrane.s, membrane.clock
half_life = Param(30.0, "d", "half-life", 0.001, 100_000.0)
least = membrane.least
write, rank = membrane.write, membrane.rank


def tick(items: Items, now: float, *, half_life: float, least: float) -> Columns:
    after = np.where(items["s"] > 0.0, np.exp2(-items.age(now, "clock") / half_life), 0.0)
    return {"s": after, "alive": after >= least}
