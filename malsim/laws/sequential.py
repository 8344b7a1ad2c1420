"""Decide claims one by one: the first claim is accepted, and only its writer or a reviewer may change it.

    write:  nothing accepted about o → the claim is accepted
            same as the accepted one → absorbed; by another writer: seconds += 1, locked at `quorum` seconds
            another value, by the accepted one's writer while it is not locked, or by a reviewer → replaces it
            else a proposal;  same as a proposal → absorbed by it
    score = 0 proposed, 1 accepted, 2 locked

Claims are judged in order of arrival, so the order matters.
Source: the published design's decision lifecycle: proposed, accepted, locked.
Left out: votes on a proposal, and expiry.

>>> from malsim.laws import play
>>> play("sequential", "0 A by u", "1 B by v", "2 B by w"), play("sequential", "0 A by u", "1 B by u")
([('A', 1.0), ('B', 0.0)], [('B', 1.0)])
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.laws.engine.items import Change, Claim, ItemField, Items, first, none, some, state_column

ordered = True
PROPOSED, ACCEPTED, LOCKED = 0.0, 1.0, 2.0
stage = ItemField(ACCEPTED, "1", "0 proposed, 1 accepted, 2 locked")
seconds = ItemField(0.0, "1", "number of repetitions by other writers")
quorum = Param(2.0, "1", "number of repetitions that lock an accepted claim", 1.0, 1_000_000.0)


def write(items: Items, claim: Claim, *, quorum: float) -> Change:
    decided = items.alive & (items["stage"] >= ACCEPTED)
    by_its_writer = decided & (items["stage"] < LOCKED) & (items.writer == claim.writer)
    changes = decided & claim.rival & (by_its_writer | claim.reviewed)
    replaced = some(changes)
    absorbed = claim.same & ~replaced
    seconded = first(absorbed) & decided & (items.writer != claim.writer)
    seconds = items["seconds"] + seconded
    locked = decided & (seconds >= quorum)
    return Change(
        makes=none(absorbed),
        taken=absorbed,
        new={"stage": np.where(replaced | none(decided), ACCEPTED, PROPOSED)},
        items={
            "alive": items.alive & ~changes & ~(claim.same & replaced),
            "seconds": seconds,
            "stage": np.where(locked, LOCKED, items["stage"]),
        },
    )


rank = state_column("stage")
