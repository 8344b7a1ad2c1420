"""Count votes: each writer's latest claim about an object is one vote.

    write:  a writer's earlier vote about o is withdrawn, unless it is dated later;  the claim is its vote
    score = n, the votes for the value;  belief = n / all votes about o

Source: the plurality vote, the baseline of truth discovery.
Left out: writer records and stated confidence.

>>> from malsim.laws import play
>>> play("majority", "0 A by u", "1 A by v", "2 B by w", "3 B by v")
[('A', 1.0), ('B', 2.0), ('B', 2.0)]
"""

import numpy as np

from malsim.laws.engine.items import Change, Claim, ItemField, Items, some, state_column
from malsim.memory.graph.arrays import Array

aliases = ("vote",)
n = ItemField(1.0, "1", "votes for the value")
votes = ItemField(1.0, "1", "votes about the object")


def write(items: Items, claim: Claim) -> Change:
    same_writer = items.alive & (items.writer == claim.writer)
    later = same_writer & (items.time > claim.time)
    counts = ~some(later)
    withdrawn = same_writer & ~later  # at most one earlier vote per writer
    former = np.where(withdrawn, items.value, -1).max(axis=1, keepdims=True, initial=-1)
    gain = np.where(items.value == claim.value, 1.0, 0.0) - np.where(items.value == former, 1.0, 0.0)
    total = (items.alive & ~withdrawn).sum(axis=1, keepdims=True) + 1.0
    same = (claim.same & ~withdrawn).sum(axis=1, keepdims=True) + 1.0
    return Change(
        makes=counts,
        taken=later,
        new={"n": same, "votes": total},
        items={
            "alive": items.alive & ~withdrawn,
            "n": np.where(counts, items["n"] + gain, items["n"]),
            "votes": np.where(counts, total, items["votes"]),
        },
    )


rank = state_column("n")


def belief(items: Items, _: float) -> Array:
    share: Array = items["n"] / items["votes"]
    return share
