"""Lower the confidence of items not recalled for a month. Every sweep subtracts the loss for the full time again.

    write:  an item always, p = c
    tick:   e = days since recalled (∅: t);  e > 30:  p ← max(0, p − loss · ⌊(e − 30) / 7⌋), from the decayed p
            (compounds = 0: from c);  p < least dies
    read:   recalled = now
    score = belief = p

Source: Fmarzochi/EGC cf16e7b7.
Left out: extraction and search; two equal claims are two items.
Proven: equal on 50 of 50 drawn streams (to 1e-9): upsertLesson and applyDecaySweep of scripts/lib/state-
store/queries/lessons.js.

>>> from malsim.laws import play
>>> play("egc", "0 A", "45 tick"), play("egc", "0 A", "44 tick", "45 tick")
([('A', 0.6)], [('A', 0.5)])
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.laws.engine.items import Columns, ItemField, Items, Query, state_column
from malsim.memory.graph.arrays import rounded

p = ItemField("stated", "1", "confidence")
recalled = ItemField("time", "d", "time of the last read; before the first read, of the claim")
loss = Param(0.05, "1/week", "confidence lost per week after the first month", 0.0, 1.0)
compounds = Param(1.0, "1", "above 0: sweeps lower the latest value, as shipped; 0: the stated c, as repaired", 0.0, 1.0)
least = Param(0.2, "1", "confidence below which a sweep deletes an item", 0.0, 1.0)


def tick(items: Items, now: float, *, loss: float, least: float, compounds: float) -> Columns:
    idle = items.age(now, "recalled")
    penalty = loss * np.floor((idle - 30.0) / 7.0)
    lower = np.maximum(0.0, items["p"] - penalty if compounds else rounded(items.stated - penalty, 9))
    after = np.where(idle > 30.0, lower, items["p"])
    return {"p": after, "alive": after >= least}


def read(items: Items, query: Query) -> Columns:
    return {"recalled": np.where(query.used, query.now, items["recalled"])}


rank = belief = state_column("p")
