"""Find out whom to believe: writers' records and confusions, learnt from what they agree on, weigh every claim.

    one claim a writer and object, the latest;  n_o claims about o
    e_i     = exp(−age_i / tau) with a tau; else exp(−(t_newest(o) − t_i) / τ), τ found from the claims; 1 if not found
    u_i     = e_i [n_o ≥ 2], times PIN where o is verified: what a claim weighs in learning
    P       = the share of the claims about o; then, at each tick, twenty sweeps:
    A       = (Σ u P(v_i) + .7 KP) / (Σ u + KP), within [1/K + .02, .98]
    a_w     = (Σ_w u P(v_i) + KW A) / (Σ_w u + KW), within [.02, .98]
    M(k,v)  = Σ u P(k) [v_i = v] + KP one(k,v), each row summing to 1;  one = A on the diagonal, (1 − A)/(K − 1) off it
    M_w     = M with the odds of its diagonal times odds(a_w) / odds(A)
    θ_w     = (Σ_w u P(k) [v_i = v] + KC M_w) / (Σ_w u P(k) + KC)
    c(i)    = log P(bin of stated | agreed) − log P(bin | did not)
    λ       = Σ n_o (n_o − 1)/2 / (Σ n_o (n_o − 1)/2 + H · writers · K (K − 1))
    L_i(k)  = λ log max(θ_w(k, v_i), .001) + ((1 − λ) log(a_w (K − 1)/(1 − a_w)) + S c(i)) [k = v_i]
    T_i(k)  = e_i L_i(k) / (1 + R_IN (n_o − 1))
    P_o(k)  ∝ prior(k)^λ exp(Σ_i T_i(k))
    worth   = (1 − EPS) sigmoid(logit P / (D0 + R_OUT (n_o − 1))) + EPS / K
    score = belief = worth / max(1, Σ worth over the object's values)

Where objects have values of their own (`values`: auto, shared or own) a writer has one record, and
T_i = e_i (log(a_w (K_o − 1)/(1 − a_w)) + S c(i)) / (1 + R_IN (n_o − 1)) for its own value.
A claim about what nobody else speaks of teaches nothing of its writer: a liar's own facts would earn him a record.
What a reviewer says, or a claim of verification external, is pinned: P is 1 there, and a claim about one counts as PIN in
learning. The sweeps begin from the pinned facts, and from the votes; the votes' end is taken where claims, facts and
records are together a hundred times likelier there. Ten pinned facts or more choose the form under `values` auto:
shared, own, or own with the pool's record for everybody, a vote, where that makes them ten times likelier, each
fact judged by records that have not seen it.
KW 4, KC 8, KP 50, KB 60, S .6, R_IN .01, D0 3, R_OUT .2, EPS .05, H 3, PIN 5. Between ticks a reader sees what a tick would
give. Source: found on 38 sets of claims of people and models, its constants fixed; a relative of Dawid and Skene 1979.
τ is a line's fit to how often older claims say what the newest says (`malsim/laws/truth/fading.py`), and it counts where
"never" is 6.63 less likely. Off by default: `tau`, `lineage`. Left out: copying between writers, liars who share facts of
their own.

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
p = ItemField("stated", "1", "effective confidence of its value at the last tick")
record = ItemField(np.nan, "1", "its writer's record a_w at the last tick; NaN before, and for a reviewer")
tau = Param(0.0, "d", "time constant of claims' weight; 0 for none of your own", 0.0, 1_000_000.0)
tau_from = Param(
    "claims", "1", "claims: without a tau one is found from the claims, where they show that facts change; or given"
)
values = Param("auto", "1", "auto, shared or own")
lineage = Param("apart", "1", "one: writers of one lineage are one writer, whose latest word counts; or apart")


write = last_word


def tick(items: Items, now: float, *, tau: float, tau_from: str, values: str, lineage: str) -> Columns:
    if not len(items.rep):
        return {}
    judged = estimate_truth(items, now, tau=tau, tau_from=tau_from, values=values, lineage=lineage)
    return {"p": judged.effective, "record": judged.record}


def explain(items: Items, row: int, now: float, *, tau: float, tau_from: str, values: str, lineage: str) -> Reasons:
    judged = estimate_truth(items, now, tau=tau, tau_from=tau_from, values=values, lineage=lineage)
    return reasons_of(items, *judged.of(row), row)


rank = belief = state_column("p")
