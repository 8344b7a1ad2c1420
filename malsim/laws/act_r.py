"""Rank by ACT-R's base-level activation: every claim and every use of an item adds a term that decays by a power law.

    write:  same → a presentation at t;  else an item, presented at t
    read:   a presentation at now, of the best item only
    score = ln Σ_j max((now − t_j) · 86400, 1)^(−decay)

Times are in days, the sum is in seconds. The law has no belief; scores may be negative.
Source: Anderson and Schooler 1991; the base-level equation of ACT-R, with the usual decay of 0.5.
Left out: spreading activation, noise, and the retrieval threshold.
Proven: equal on 50 of 50 drawn streams (to 1e-9): baselevel_learning of jakdot/pyactr 5cb784c; the bench decides which
item a read presents.

>>> from malsim.laws import play
>>> play("act_r", "0 A", "1 B", "1.5 B", "2 tick")
[('A', -6.029945), ('B', -4.801998)]
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.laws.engine.items import Change, Claim, Columns, ItemField, Items, Query, first, none
from malsim.memory.graph.arrays import Array, Bools, sum_in_order

uses = 1
times = ItemField("time", "d", "times of the item's claims and uses", many=True)
decay = Param(0.5, "1", "exponent of forgetting", 0.0, 2.0)


def write(items: Items, claim: Claim) -> Change:
    again = first(claim.same)
    return Change(makes=none(again), taken=again, items={"times": _present(items["times"], again, claim.time[..., None])})


def read(items: Items, query: Query) -> Columns:
    return {"times": _present(items["times"], query.used, query.now)}


def rank(items: Items, now: float, *, decay: float) -> Array:
    seconds = np.maximum((now - items["times"]) * 86_400.0, 1.0)
    total: Array = np.log(sum_in_order(seconds**-decay, axis=-1))
    return total


def _present(times: Array, where: Bools, time: Array | float) -> Array:
    count = np.count_nonzero(~np.isnan(times), axis=-1)
    if count[where].max(initial=0) == times.shape[-1]:
        times = np.concatenate([times, np.full_like(times, np.nan)], axis=-1)
    new = where[..., None] & (np.arange(times.shape[-1]) == count[..., None])
    return np.where(new, time, times)
