"""Alternate between a weighted vote and writer weights that reward agreement with that vote.

    each writer's latest claim about each object; sweeps, from weights of 1:
    P(v) = Σ_w W_w [w claims v] / Σ_w W_w
    loss_w = mean over its claims of Σ_v (P(v) − [w claims v])²;  W_w = −log(loss_w / Σ_w loss_w)
    score = belief = P of its value at the last tick

Between ticks, a reader sees the result that a tick would have.
Source: Li, Li, Gao, Zhao, Fan and Han 2014 (CRH), with categorical values and the squared loss of their probabilities.
Left out: numeric values and their distances, weights per property, and stated confidence.

>>> from malsim.laws import play
>>> claims = ["0 A by u", "0 A by v", "0 B by w", "1 tick"]
>>> [(value, round(worth, 3)) for value, worth in play("crh", *claims)]
[('A', 1.0), ('A', 1.0), ('B', 0.0)]
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.laws.engine.items import Columns, ItemField, Items, last_word, state_column
from malsim.laws.truth.evidence import Evidence, sums
from malsim.laws.truth.gather import gather
from malsim.memory.graph.arrays import Array

pools = True
LEAST = 1e-6  # added to every loss, so that a writer who is always right has a finite weight
p = ItemField("stated", "1", "share of the weight for the item's value at the last tick")
sweeps = Param(20.0, "1", "number of rounds", 1.0, 1000.0)

write = last_word


def tick(items: Items, _: float, *, sweeps: float) -> Columns:
    if not len(items.rep):
        return {}
    data = gather(items, np.ones(len(items.rep)), shared=False, pins=False)
    evidence, writers = data.evidence, len(data.evidence.writer_rep)
    count, weight = sums(evidence.weight, evidence.writer, writers), np.ones(writers)
    for _ in range(int(sweeps)):
        share = _shares(weight, evidence)
        square = sums(share * share, evidence.items, len(evidence.object_rep))
        loss = square[evidence.object] - 2.0 * share[evidence.value] + 1.0
        loss = sums(loss, evidence.writer, writers) / count + LEAST
        weight = -np.log(loss / sums(loss, evidence.writer_rep, evidence.reps)[evidence.writer_rep])
        weight = np.maximum(weight, LEAST)  # otherwise the only writer in a replication would have weight 0
    return {"p": _shares(weight, evidence)[data.value]}


def _shares(weight: Array, evidence: Evidence) -> Array:
    mass = sums(weight[evidence.writer], evidence.value, len(evidence.items))
    shares: Array = mass / sums(mass, evidence.items, len(evidence.object_rep))[evidence.items]
    return shares


rank = belief = state_column("p")
