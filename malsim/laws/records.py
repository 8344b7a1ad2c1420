"""Weigh each claim by its writer's track record and confusion matrix, both learnt from agreement among writers.

    each writer's latest claim about each object;  n_o claims about o
    e_i     = exp(−age_i / tau) with a tau; else exp(−(t_newest(o) − t_i) / τ), τ fitted to the claims; 1 if none fits
    u_i     = e_i [n_o ≥ 2], times PIN where o is verified: weight of a claim in learning
    P       = share of the claims about o; then, at each tick, twenty sweeps:
    A       = (Σ u P(v_i) + .7 KP) / (Σ u + KP), within [1/K + .02, .98]
    a_w     = (Σ_w u P(v_i) + KW A) / (Σ_w u + KW), within [.02, .98]
    M(k,v)  = Σ u P(k) [v_i = v] + KP one(k,v), each row summing to 1;  one = A on the diagonal, (1 − A)/(K − 1) off it
    M_w     = M with the odds of its diagonal times odds(a_w) / odds(A)
    θ_w     = (Σ_w u P(k) [v_i = v] + KC M_w) / (Σ_w u P(k) + KC)
    c(i)    = log P(bin of stated | agrees) − log P(bin of stated | differs)
    λ       = Σ n_o (n_o − 1)/2 / (Σ n_o (n_o − 1)/2 + H · writers · K (K − 1))
    L_i(k)  = λ log max(θ_w(k, v_i), .001) + ((1 − λ) log(a_w (K − 1)/(1 − a_w)) + S c(i)) [k = v_i]
    T_i(k)  = e_i L_i(k) / (1 + R_IN (n_o − 1))
    P_o(k)  ∝ prior(k)^λ exp(Σ_i T_i(k))
    worth   = (1 − EPS) sigmoid(logit P / (D0 + R_OUT (n_o − 1))) + EPS / K
    score = belief = worth / max(1, Σ worth over the object's values)

If objects have their own values (`values`: auto, shared or own), a writer has only a record a_w, and
T_i = e_i (log(a_w (K_o − 1)/(1 − a_w)) + S c(i)) / (1 + R_IN (n_o − 1)) for the claimed value.
A claim about an object that no other writer mentions teaches nothing about its writer; otherwise a liar could earn a record
with invented facts. Claims of reviewers and externally verified claims are pinned: P = 1 for their values, and claims about
a pinned object have weight PIN in learning. Sweeps start both from the pinned facts and from the votes; the result from the
votes is used if it makes claims, facts and records jointly 100 times likelier. With ten or more pinned facts, `values` auto
chooses the form (shared, own, or a vote: own values with the pool's record for all writers) that makes the facts ten times
likelier, each fact judged by records learnt without that fact. τ is fitted to the agreement of older claims with the newest
(`malsim/laws/truth/fading.py`) and used if the chi-square against "never" exceeds 6.63. Off by default: `tau`, `lineage`.
Between ticks, a reader sees the result that a tick would have.
KW 4, KC 8, KP 50, KB 60, S .6, R_IN .01, D0 3, R_OUT .2, EPS .05, H 3, PIN 5.
Source: constants fitted to 38 data sets of claims by people and models, then fixed; related to Dawid and Skene 1979.
Left out: copying between writers, and liars who share invented facts.

>>> from malsim.laws import play
>>> [(value, round(worth, 3)) for value, worth in play("records", "0 A by u", "0 A by v", "0 B by w", "1 tick")]
[('A', 0.601), ('A', 0.601), ('B', 0.399)]
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.laws.engine.items import Columns, ItemField, Items, last_word, state_column
from malsim.laws.engine.reasons import Reasons
from malsim.laws.truth.estimate import estimate_truth
from malsim.laws.truth.log_odds import reasons_of

pools = True
p = ItemField("stated", "1", "effective confidence of the item's value at the last tick")
record = ItemField(np.nan, "1", "record a_w of the item's writer at the last tick; NaN before it and for reviewers")
tau = Param(0.0, "d", "time constant of a claim's weight; 0 for none", 0.0, 1_000_000.0)
tau_from = Param("claims", "1", "claims: if tau is 0, fit tau where claims show that facts change; given: do not fit")
values = Param("auto", "1", "values of objects: auto, shared or own")
lineage = Param("apart", "1", "one: the writers of a lineage count as one writer, with one latest claim; apart: separately")

write = last_word


def tick(items: Items, now: float, *, tau: float, tau_from: str, values: str, lineage: str) -> Columns:
    if not len(items.rep):
        return {}
    judged = estimate_truth(items, now, tau=tau, tau_from=tau_from, values=values, lineage=lineage)
    return {"p": judged.effective, "record": judged.record}


def explain(items: Items, row: int, now: float, *, tau: float, tau_from: str, values: str, lineage: str) -> Reasons:
    judged = estimate_truth(items, now, tau=tau, tau_from=tau_from, values=values, lineage=lineage)
    return reasons_of(items, *judged.at(row), row)


rank = belief = state_column("p")
