"""Estimate each writer's confusions and each truth in turn, from all claims, at every tick.

    one claim a writer and object, the latest;  P from the shares of votes, then `sweeps` times:
    prior(k)  = mean over objects of P(k)
    θ_w(k, v) = (Σ_w P(k) [v_i = v] + pseudo) / (Σ_w P(k) + K pseudo)
    P(k)      ∝ prior(k) Π_i θ_w(i)(k, v_i)
    score = belief = P of its value

A batch law: between ticks a reader sees what a tick would give. Values are one set of classes for all objects.
Source: Dawid and Skene 1979, by expectation and maximisation; its own numpy.
Left out: priors on confusions beyond `pseudo`, time, and stated confidence.

>>> from malsim.laws import play
>>> play("dawid_skene", "0 A by u", "0 A by v", "0 B by w", "1 tick")
[('A', 0.835577), ('A', 0.835577), ('B', 0.164423)]
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.laws.engine.items import Columns, ItemField, Items, last_word, state_column
from malsim.laws.truth.confusions import expected_truths
from malsim.laws.truth.gather import gather

pools = True
p = ItemField("stated", "1", "posterior of its value at the last tick")
sweeps = Param(20.0, "1", "rounds of expectation and maximisation", 1.0, 1000.0)
pseudo = Param(0.01, "1", "claims added to each count", 1e-9, 1000.0)


write = last_word


def tick(items: Items, _: float, *, sweeps: float, pseudo: float) -> Columns:
    if not len(items.rep):
        return {}
    data = gather(items, np.ones(len(items.rep)), shared=True, pins=False)
    posterior = expected_truths(data.evidence, sweeps=int(sweeps), pseudo=pseudo)
    return {"p": posterior[data.about, data.value]}


rank = belief = state_column("p")
