"""Law `records` for objects that do not share values. Each writer has a single record instead of a confusion matrix."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from malsim.laws.truth.evidence import Constants, TruthEstimate, learning_weights, stated_terms, sums, worth
from malsim.laws.truth.verified import begins_verified, likelier_end, log_given, prior_of_records, starting_weights

if TYPE_CHECKING:
    from malsim.laws.truth.evidence import Evidence
    from malsim.memory.graph.arrays import Array


class _Records(NamedTuple):
    """Result of a learning pass: the pool's rate A (raw and clipped), and each writer's a_w, agreed and total weight."""

    rate: Array
    pool: Array
    record: Array
    agreed: Array
    total: Array


class _Believed(NamedTuple):
    """Posterior P of each item, the term of each claim, and the log normaliser of each object."""

    p: Array
    terms: Array
    log_sum: Array


# A frozen dataclass is a safe default.
def own_values(evidence: Evidence, constants: Constants = Constants()) -> TruthEstimate:  # noqa: B008
    """Compute the posterior and effective confidence of every item, where an item is a claimed value of an object."""
    count = np.bincount(evidence.value, minlength=len(evidence.items)).astype(np.float64)
    total = sums(count, evidence.items, len(evidence.object_rep))[evidence.items]
    p = _pinned(evidence, count / np.maximum(total, 1.0))  # the sum is 0 if all claims are verified
    votes = _swept(evidence, p, constants)
    if not (evidence.pinned >= 0).any():
        return votes
    learnt = _learn(replace(evidence, weight=starting_weights(evidence)), p, constants)
    begun = _believe(evidence, learnt.record, np.zeros(len(evidence.writer)), constants).p
    start = np.where(begins_verified(evidence)[evidence.items], begun, p)
    return likelier_end(evidence, votes, _swept(evidence, start, constants))


def _swept(evidence: Evidence, p: Array, constants: Constants) -> TruthEstimate:
    items, teaching = evidence.items, replace(evidence, weight=learning_weights(evidence, constants))
    for _ in range(constants.sweeps):
        learnt = _learn(teaching, p, constants)
        stated = stated_terms(teaching, p[evidence.value], constants)
        p, terms, _ = believed = _believe(evidence, learnt.record, stated, constants)
    effective = worth(p, evidence.voices[items], evidence.item_values[items], constants)
    effective /= np.maximum(1.0, sums(effective, items, len(evidence.object_rep)))[items]
    estimate = TruthEstimate(posterior=p, effective=effective, record=learnt.record, terms=terms, prior=np.zeros(len(p)))
    if not (evidence.pinned >= 0).any():
        return estimate
    return replace(
        estimate,
        log_posterior=_log_posterior(evidence, learnt, believed, constants),
        left_out=_left_out(evidence, learnt, stated, constants),
    )


def _pinned(evidence: Evidence, p: Array) -> Array:
    pin = evidence.pinned[evidence.items]
    return np.where(pin >= 0, np.arange(len(p)) == pin, p)


def _learn(evidence: Evidence, p: Array, constants: Constants) -> _Records:
    writers, rep = len(evidence.writer_rep), evidence.writer_rep
    agreed = sums(evidence.weight * p[evidence.value], evidence.writer, writers)
    total = sums(evidence.weight, evidence.writer, writers)
    rate = (sums(agreed, rep, evidence.reps) + 0.7 * constants.pool) / (sums(total, rep, evidence.reps) + constants.pool)
    pool = np.clip(rate, 0.52, 0.98)
    return _Records(rate, pool, _record(agreed, total, pool[rep], constants), agreed, total)


def _record(agreed: Array, total: Array, pool: Array, constants: Constants) -> Array:
    record: Array = np.clip((agreed + constants.record * pool) / (total + constants.record), 0.02, 0.98)
    return record


def _believe(evidence: Evidence, record: Array, stated: Array, constants: Constants) -> _Believed:
    items, objects, values = evidence.items, len(evidence.object_rep), evidence.item_values
    unseen = values - np.bincount(items, minlength=objects)
    right = record[evidence.writer]
    likely = np.log(right * (values[evidence.object] - 1.0) / (1.0 - right)) + constants.share_stated * stated
    terms = likely * evidence.scale(constants)
    total = sums(terms, evidence.value, len(items))
    top = np.zeros(objects)  # an unclaimed value has a log weight of 0
    np.maximum.at(top, items, total)
    height = np.exp(total - top[items])
    every = sums(height, items, objects) + unseen * np.exp(-top)
    return _Believed(_pinned(evidence, height / every[items]), terms, top + np.log(every))


def _log_posterior(evidence: Evidence, learnt: _Records, believed: _Believed, constants: Constants) -> Array:
    """Compute each replication's joint log likelihood of claims, verified facts and records, up to a constant.

    Σ_o log Σ_k exp(Σ T(k)), with the verified value alone for a verified o, + Σ_i e_i log((1 − a_w) / (K_o − 1)),
    scaled like T, + log prior of the records
    """
    rep, values = evidence.object_rep[evidence.object], evidence.item_values
    at_fact = sums(believed.terms, evidence.value, len(evidence.items))[np.maximum(evidence.pinned, 0)]
    likely = np.where(evidence.pinned >= 0, at_fact, believed.log_sum)
    wrong = np.log((1.0 - learnt.record[evidence.writer]) / (values[evidence.object] - 1.0)) * evidence.scale(constants)
    total: Array = (
        sums(likely, evidence.object_rep, evidence.reps) + sums(wrong, rep, evidence.reps)
        + prior_of_records(evidence, learnt.rate, learnt.pool, learnt.record, constants)
    )  # fmt: skip
    return total


def _left_out(evidence: Evidence, learnt: _Records, stated: Array, constants: Constants) -> Array:
    """Compute the log likelihood of each replication's verified facts, judging each fact by records learnt without it."""
    fact = evidence.pinned[evidence.object]
    weight = learning_weights(evidence, constants) * (fact >= 0)
    who, right = evidence.writer, evidence.value == fact
    pool = learnt.pool[evidence.writer_rep[who]]
    record = _record(learnt.agreed[who] - weight * right, learnt.total[who] - weight, pool, constants)
    unpinned = np.full_like(evidence.pinned, -1)
    judged = replace(evidence, writer=np.arange(len(who)), writer_rep=evidence.writer_rep[who], pinned=unpinned)
    believed = _believe(judged, record, stated, constants).p
    given = worth(believed, evidence.voices[evidence.items], evidence.item_values[evidence.items], constants)
    facts = np.flatnonzero(evidence.pinned >= 0)
    every = sums(given, evidence.items, len(evidence.object_rep))
    return log_given(evidence, every[facts], given[evidence.pinned[facts]])
