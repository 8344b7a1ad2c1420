"""Lower the importance of items not used for a month. Every sweep applies the loss for the full time again.

    write:  same → nothing;  else an item, p = .5, used = t
    tick:   a = now − used;  a ≥ 30:  q = max(least, p (1 − loss · min((a − 30) / 30, 5))),
            p ← round(q, 4) if that is less than round(p, 4)
    read:   used = now
    score = p

Source: aiming-lab/SimpleMem db80b6a (EvolveMem).
Left out: extraction, importance, and search.
Proven: equal on 50 of 50 drawn streams (to 1e-9): MemoryConsolidator._apply_importance_decay, configured as by its
manager; the model leaves out exact copies, which the source supersedes.

>>> from malsim.laws import play
>>> play("evolvemem", "0 A", "60 tick"), play("evolvemem", "0 A", "59 tick", "60 tick")
([('A', 0.475)], [('A', 0.452)])
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.laws.engine.items import Change, Claim, Columns, ItemField, Items, Query, none, state_column
from malsim.memory.graph.arrays import rounded

p = ItemField(0.5, "1", "importance")
used = ItemField("time", "d", "time of the last read; before the first read, of the claim")
loss = Param(0.05, "1/month", "share lost per month after the first, for at most five months", 0.0, 0.2)
least = Param(0.15, "1", "least importance", 0.0, 1.0)


def write(_: Items, claim: Claim) -> Change:
    return Change(makes=none(claim.same), taken=claim.same)


def tick(items: Items, now: float, *, loss: float, least: float) -> Columns:
    idle = items.age(now, "used")
    lower = np.maximum(least, items["p"] * (1.0 - loss * np.minimum((idle - 30.0) / 30.0, 5.0)))
    after = items["p"].copy()
    due = np.flatnonzero(idle >= 30.0)
    new = rounded(lower[due], 4)
    less = new < rounded(after[due], 4)
    after[due[less]] = new[less]
    return {"p": after}


def read(items: Items, query: Query) -> Columns:
    return {"used": np.where(query.used, query.now, items["used"])}


rank = state_column("p")
