"""Rank by recency as defined in the paper: exponential decay with the hours since the last retrieval.

    write:  an item, clock = t
    read:   clock = now
    score = decay^(hours since clock)

Source: Park et al. 2023, Generative Agents, section 4.1.
Left out: relevance and importance, which are equal here for all items about one object.
Proven: no function to run: the equations are from a paper.

>>> from malsim.laws import play
>>> play("generative_agents_paper", "0 A", "10 tick"), play("generative_agents_paper", "0 A", "10 read")
([('A', 0.300289)], [('A', 1.0)])
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.laws.engine.items import Columns, ItemField, Items, Query
from malsim.memory.graph.arrays import Array

clock = ItemField("time", "d", "time of the item's creation or last retrieval")
decay = Param(0.995, "1", "recency after an hour", 0.0, 1.0)


def read(items: Items, query: Query) -> Columns:
    return {"clock": np.where(query.used, query.now, items["clock"])}


def rank(items: Items, now: float, *, decay: float) -> Array:
    return decay ** (24.0 * items.age(now, "clock"))
