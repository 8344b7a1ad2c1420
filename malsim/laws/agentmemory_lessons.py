"""Reinforce a lesson when it is repeated, and lower every other lesson's confidence by 0.05 per week.

    write:  same → p ← min(1, p + gain (1 − p)), n += 1, clock = t;  else p = c, n = 0, clock = t, swept = ∅
    tick:   w = weeks since swept (∅: clock);  w ≥ 1:  p' = max(.05, p − loss · w);
            if p' ≠ p:  p ← round(p', 3), swept = now;  dies if p ≤ .1 and n = 0
    score = 0 if p < .1 else p / (1 + .01 (now − clock));  belief = p

Source: rohitg00/agentmemory 038b573e: lessons.
Left out: deciding that two lessons are the same, and search.
Proven: equal on 50 of 50 drawn streams: lesson-save, lesson-recall and lesson-decay-sweep of src/functions/lessons.ts (to
6e-4: a recall rounds to three digits).

>>> from malsim.laws import play
>>> play("agentmemory_lessons", "0 A", "1 A", "15 tick")
[('A', 0.552632)]
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.laws.engine.items import Change, Claim, Columns, ItemField, Items, first, none, state_column
from malsim.memory.graph.arrays import Array, rounded

p = ItemField("stated", "1", "confidence")
n = ItemField(0.0, "1", "number of repeated claims")
clock = ItemField("time", "d", "time of the last claim")
swept = ItemField(np.nan, "d", "time of the last sweep that lowered p; NaN if none did")
gain = Param(0.1, "1", "share of the doubt that a repetition removes", 0.0, 1.0)
hidden = Param(0.1, "1", "confidence below which a query hides a lesson; a sweep stops at .05", 0.0, 1.0)
loss = Param(0.05, "1/week", "confidence lost per week", 0.0, 1.0)


def write(items: Items, claim: Claim, *, gain: float) -> Change:
    again = first(claim.same)
    more = np.minimum(1.0, items["p"] + gain * (1.0 - items["p"]))
    columns = {"p": np.where(again, more, items["p"]), "n": items["n"] + again}
    columns["clock"] = np.where(again, claim.time, items["clock"])
    return Change(makes=none(again), taken=again, items=columns)


def tick(items: Items, now: float, *, loss: float) -> Columns:
    weeks = np.maximum(now - np.where(np.isnan(items["swept"]), items["clock"], items["swept"]), 0.0) / 7.0
    lower = np.maximum(0.05, items["p"] - loss * weeks)
    due = (weeks >= 1.0) & (lower != items["p"])
    after = items["p"].copy()
    after[due] = rounded(lower[due], 3)
    alive = ~(due & (after <= 0.1) & (items["n"] == 0.0))
    return {"p": after, "swept": np.where(due, now, items["swept"]), "alive": alive}


def rank(items: Items, now: float, *, hidden: float) -> Array:
    return np.where(items["p"] < hidden, 0.0, items["p"] / (1.0 + 0.01 * items.age(now, "clock")))


belief = state_column("p")
