"""Weigh every writer by how little its claims differ from the weighted vote, and vote again.

    one claim a writer and object, the latest; sweeps, from weights of 1:
    P(v) = Σ_w W_w [w says v] / Σ_w W_w
    loss_w = mean over its claims of Σ_v (P(v) − [w says v])²;  W_w = −log(loss_w / Σ_w loss_w)
    score = belief = P of its value at the last tick

Between ticks a reader sees what a tick would give.
Source: Li, Li, Gao, Zhao, Fan and Han 2014 (CRH), values as categories, squared loss of their probabilities.
Left out: numbers and their distances, weights by property, and stated confidence.

>>> from malsim.laws import play
>>> claims = ["0 A by u", "0 A by v", "0 B by w", "1 tick"]
>>> [(value, round(worth, 3)) for value, worth in play("crh", *claims)]
[('A', 1.0), ('A', 1.0), ('B', 0.0)]
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.laws.engine.items import Columns, ItemField, Items, last_word, state_column
from malsim.laws.truth.gather import gather
from malsim.laws.truth.weighted_votes import least_loss

pools = True
p = ItemField("stated", "1", "share of the weight that speaks for its value, at the last tick")
sweeps = Param(20.0, "1", "rounds", 1.0, 1000.0)


write = last_word


def tick(items: Items, _: float, *, sweeps: float) -> Columns:
    if not len(items.rep):
        return {}
    data = gather(items, np.ones(len(items.rep)), shared=False, pins=False)
    return {"p": least_loss(data.evidence, sweeps=int(sweeps))[data.value]}


rank = belief = state_column("p")
