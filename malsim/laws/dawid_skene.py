"""Alternately estimate each writer's confusion matrix and the true values from all claims, at every tick.

    each writer's latest claim about each object;  P from the shares of votes, then `sweeps` times:
    prior(k)  = mean over objects of P(k)
    θ_w(k, v) = (Σ_w P(k) [v_i = v] + pseudo) / (Σ_w P(k) + K pseudo)
    P(k)      ∝ prior(k) Π_i θ_w(i)(k, v_i)
    score = belief = P of its value

The law is a batch law: between ticks, a reader sees the result that a tick would have. All objects share one set of values.
Source: Dawid and Skene 1979, with expectation maximisation.
Left out: priors on confusion matrices beyond `pseudo`, time, and stated confidence.

>>> from malsim.laws import play
>>> play("dawid_skene", "0 A by u", "0 A by v", "0 B by w", "1 tick")
[('A', 0.835577), ('A', 0.835577), ('B', 0.164423)]
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.laws.engine.items import Columns, ItemField, Items, last_word, state_column
from malsim.laws.truth.evidence import sums
from malsim.laws.truth.gather import gather

pools = True
p = ItemField("stated", "1", "posterior of the item's value at the last tick")
sweeps = Param(20.0, "1", "number of rounds of expectation maximisation", 1.0, 1000.0)
pseudo = Param(0.01, "1", "number of claims added to each count", 1e-9, 1000.0)

write = last_word


def tick(items: Items, _: float, *, sweeps: float, pseudo: float) -> Columns:
    if not len(items.rep):
        return {}
    data = gather(items, np.ones(len(items.rep)), shared=True, pins=False)
    evidence, k = data.evidence, data.evidence.values
    objects, writers = len(evidence.object_rep), len(evidence.writer_rep)
    p = np.bincount(evidence.object * k + evidence.value, minlength=objects * k).reshape(objects, k).astype(np.float64)
    p /= p.sum(axis=1, keepdims=True)
    cell, count = evidence.writer * k + evidence.value, np.bincount(evidence.object_rep, minlength=evidence.reps)[:, None]
    for _ in range(int(sweeps)):
        counts = [sums(row, cell, writers * k).reshape(writers, k) for row in p.T[:, evidence.object]]
        agreements = np.stack(counts, axis=1)  # shape [writer, truth, value]
        theta = (agreements + pseudo) / (agreements.sum(axis=2, keepdims=True) + k * pseudo)
        log_theta = np.log(theta)[evidence.writer, :, evidence.value]
        total = np.stack([sums(column, evidence.object, objects) for column in log_theta.T], axis=1)
        mass = np.stack([sums(column, evidence.object_rep, evidence.reps) for column in p.T], axis=1)
        prior = np.log((mass + pseudo) / (count + k * pseudo))
        height = total + prior[evidence.object_rep]
        height = np.exp(height - height.max(axis=1, keepdims=True))
        p = height / height.sum(axis=1, keepdims=True)
    return {"p": p[data.about, data.value]}


rank = belief = state_column("p")
