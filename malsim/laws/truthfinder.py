"""Trust writers whose claims are believed, and believe the claims of trusted writers.

    each writer's latest claim about each object; sweeps, from t_w = start:
    σ(f) = Σ_w −log(1 − t_w) over the writers of f;  σ*(f) = σ(f) − rivals Σ σ(f') over the other values of its object
    s(f) = 1 / (1 + exp(−damping σ*(f)));  t_w = mean of s over its claims
    score = belief = s of its value at the last tick

Between ticks, a reader sees the result that a tick would have. Scores of an object's values need not sum to 1.
Source: Yin, Han and Yu 2008 (TruthFinder), with the paper's start .9, damping .3, ρ .5 and base similarity .5.
Left out: similarity of values, and stopping when trust hardly changes.

>>> from malsim.laws import play
>>> claims = ["0 A by u", "0 A by v", "0 B by w", "1 tick"]
>>> [(value, round(worth, 3)) for value, worth in play("truthfinder", *claims)]
[('A', 0.634), ('A', 0.634), ('B', 0.517)]
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.laws.engine.items import Columns, ItemField, Items, last_word, state_column
from malsim.laws.truth.evidence import sums
from malsim.laws.truth.gather import gather

pools = True
MOST = 1.0 - 1e-9  # maximum trust, which keeps −log(1 − t) finite
p = ItemField("stated", "1", "confidence of the item's value at the last tick")
sweeps = Param(20.0, "1", "number of rounds", 1.0, 1000.0)
start = Param(0.9, "1", "initial trust in a writer", 0.01, 0.99)
damping = Param(0.3, "1", "damping, which allows for dependent writers", 0.001, 10.0)
rivals = Param(0.25, "1", "weight of the scores of other values: ρ (.5) times the base similarity (.5)", 0.0, 10.0)

write = last_word


def tick(items: Items, _: float, *, sweeps: float, start: float, damping: float, rivals: float) -> Columns:
    if not len(items.rep):
        return {}
    data = gather(items, np.ones(len(items.rep)), shared=False, pins=False)
    evidence, writers, objects = data.evidence, len(data.evidence.writer_rep), len(data.evidence.object_rep)
    count, trust = sums(evidence.weight, evidence.writer, writers), np.full(writers, start)
    confidence = np.zeros(len(evidence.items))
    for _ in range(int(sweeps)):
        score = sums(-np.log1p(-np.minimum(trust, MOST))[evidence.writer], evidence.value, len(evidence.items))
        others = sums(score, evidence.items, objects)[evidence.items] - score
        confidence = 1.0 / (1.0 + np.exp(-damping * (score - rivals * others)))
        trust = sums(confidence[evidence.value], evidence.writer, writers) / count
    return {"p": confidence[data.value]}


rank = belief = state_column("p")
