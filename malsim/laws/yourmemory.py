"""Delete items whose strength falls too low; all remaining items have the same score.

    write:  same → n += 1, clock = t;  else an item, n = 0, clock = t
    read:   n += 1, clock = now
    tick:   strength < forgotten dies,  strength = min(1, ½ e^(−rate · .6 A) (1 + .2 n))
    A = number of days since clock, both ends included, on which the memory was written to or read
    score = 1

Source: sachitrafa/YourMemory 5a08d41, src/services/decay.py and src/jobs/decay_job.py; src/services/retrieve.py ranks
without strength.
Left out: importance (½ here), embeddings and search, and the merging of near copies.
Proven: equal on 50 of 50 drawn streams (to 1e-9): `run` in src/jobs/decay_job.py, compute_strength,
get_active_days_since and record_activity, on SQLite with daily sweeps.

>>> from malsim.laws import play
>>> quiet, busy = ["400 tick"], [f"{day} B" for day in range(1, 30)] + ["30 tick"]
>>> play("yourmemory", "0 A", *quiet), play("yourmemory", "0 A", *busy)
([('A', 1.0)], [('B', 1.0)])
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.laws.engine.items import Change, Claim, Columns, ItemField, Items, Query, first, none
from malsim.memory.graph.arrays import Array, Bools

scope = "replication"  # a day counts as active if any object was read or written
n = ItemField(0.0, "1", "number of repetitions and reads")
clock = ItemField("time", "d", "time of the last claim or read")
active = ItemField(1.0, "1", "number of active days since the clock")
latest = ItemField("time", "d", "time of the last counted use")
forgotten = Param(0.05, "1", "strength below which a sweep deletes an item", 0.0, 1.0)
rate = Param(0.16, "1/d", "decay of strength at importance 0; an item of importance ½ decays at .6 of this rate", 0.0, 10.0)


def write(items: Items, claim: Claim) -> Change:
    again, makes = first(claim.same), none(claim.same)
    last = np.where(items.alive, items["latest"], -np.inf).max(axis=1, keepdims=True, initial=-np.inf)
    new = {"active": _active_days(items, claim.time), "latest": np.maximum(claim.time, last)}
    return Change(makes=makes, taken=again, new=new, items=_used(items, again, claim.time, new["active"]))


def tick(items: Items, now: float, *, forgotten: float, rate: float) -> Columns:
    del now  # only active days count, so the day of the tick does not matter
    strength = 0.5 * np.exp(-rate * 0.6 * items["active"]) * (1.0 + 0.2 * items["n"])
    return {"alive": np.minimum(1.0, strength) >= forgotten}


def read(items: Items, query: Query) -> Columns:
    about = items.alive & (items.object == query.object)
    return _used(items, about & (about.cumsum(axis=1) <= 5), query.now, np.ones((len(about), 1)))


def rank(items: Items, _: float) -> Array:
    return np.ones(items.alive.shape)


def _used(items: Items, used: Bools, now: float | Array, since: Array) -> Columns:
    """Return the columns after a use of the items in `used`, which restart at `since`. A new day adds one active day."""
    fresh = np.floor(items["latest"]) < np.floor(now)
    return {
        "n": items["n"] + used,
        "clock": np.where(used, now, items["clock"]),
        "active": np.where(used, since, items["active"] + fresh),
        "latest": np.maximum(items["latest"], now),
    }


def _active_days(items: Items, time: Array) -> Array:
    """Return the number of active days since a claim's time, derived from the items last used on or after that day."""
    day, start = np.floor(items["clock"]), np.floor(time)
    active = np.where(items.alive & (day >= start), items["active"] + (day > start), 1.0)
    days: Array = active.max(axis=1, keepdims=True, initial=1.0)
    return days
