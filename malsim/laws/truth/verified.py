"""Effect of verified facts on the law `records`: the start of the sweeps, and the choice between two fixed points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.laws.truth.evidence import TruthEstimate, sums

if TYPE_CHECKING:
    from malsim.laws.truth.evidence import Constants, Evidence
    from malsim.memory.graph.arrays import Array, Bools

DECISIVE = float(np.log(100.0))  # log likelihood ratio above which the fixed point reached from the votes is chosen


def begins_verified(evidence: Evidence) -> Bools:
    """Mark the objects whose replication contains a verified fact. Only those can be initialised from verified facts."""
    has_fact = np.zeros(evidence.reps, dtype=bool)
    has_fact[evidence.object_rep[evidence.pinned >= 0]] = True
    return has_fact[evidence.object_rep]


def starting_weights(evidence: Evidence) -> Array:
    """Return claim weights for the pass that starts from verified facts: 1 for a claim about such a fact, otherwise 1e-3."""
    return np.where(evidence.pinned[evidence.object] >= 0, 1.0, 1e-3)


def likelier_end(evidence: Evidence, votes: TruthEstimate, verified: TruthEstimate) -> TruthEstimate:
    """Choose, per replication, the fixed point reached from verified facts or, if far likelier, the one reached from votes.

    Sweeps from verified facts win unless sweeps from votes end in a state 100 times likelier. If only the closest
    disputes are verified, writers look worse than chance on them, and sweeps from facts can end with every value
    inverted. If most writers lie, sweeps from votes can end that way.
    """
    if votes.log_posterior is None or verified.log_posterior is None:
        return verified
    by_votes = votes.log_posterior - verified.log_posterior > DECISIVE
    reps, open_form = np.arange(evidence.reps), evidence.item_object is not None
    about = evidence.object_rep[evidence.items] if open_form else evidence.object_rep
    rows = {
        "posterior": about, "effective": about, "record": evidence.writer_rep, "terms": evidence.object_rep[evidence.object],
        "prior": about if open_form else reps, "log_posterior": reps, "left_out": reps,
    }  # fmt: skip
    parts = {}
    for name, rep in rows.items():
        item, other = getattr(votes, name), getattr(verified, name)
        take = by_votes[rep].reshape((-1,) + (1,) * (item.ndim - 1))
        parts[name] = np.where(take, item, other)
    return TruthEstimate(**parts, depth=verified.depth)


def prior_of_records(evidence: Evidence, rate: Array, pool: Array, record: Array, constants: Constants) -> Array:
    """Compute the log prior of each replication's writer records, which acts as pseudo-counts of earlier claims.

    KP (.7 log A + .3 log(1 − A)) + KW Σ_w (A log a_w + (1 − A) log(1 − a_w)), where A is clipped in the second term only
    """
    rates = pool[evidence.writer_rep]
    item = rates * np.log(record) + (1.0 - rates) * np.log(1.0 - record)
    records = sums(item, evidence.writer_rep, evidence.reps)
    return constants.pool * (0.7 * np.log(rate) + 0.3 * np.log(1.0 - rate)) + constants.record * records


def log_given(evidence: Evidence, worths: Array, right: Array) -> Array:
    """Sum, over each replication's verified facts, the log of the true value's share of the total belief."""
    facts = np.flatnonzero(evidence.pinned >= 0)
    return sums(np.log(right / worths), evidence.object_rep[facts], evidence.reps)
