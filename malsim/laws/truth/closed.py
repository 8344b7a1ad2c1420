"""Law `records` for objects with shared values. Each writer's confusion matrix has the pooled matrix as its prior."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from malsim.laws.truth.evidence import Constants, TruthEstimate, learning_weights, stated_terms, sums, worth
from malsim.laws.truth.verified import begins_verified, likelier_end, log_given, prior_of_records, starting_weights

if TYPE_CHECKING:
    from malsim.laws.truth.evidence import Evidence
    from malsim.memory.graph.arrays import Array

LEAST = 0.001  # lower bound on the likelihood of a claim


class _Records(NamedTuple):
    """Result of a learning pass: the pool's rate A (raw and clipped), and each writer's a_w, M_w, θ_w and counts behind θ_w.

    The last three arrays have the shape (writers, truths, values).
    """

    rate: Array
    pool: Array
    record: Array
    expected: Array
    theta: Array
    counts: Array


class _Believed(NamedTuple):
    """Posterior P of each object, each claim's log likelihood terms [values, claims], and each replication's log prior."""

    p: Array
    terms: Array
    prior: Array


# A frozen dataclass is a safe default.
def closed(evidence: Evidence, constants: Constants = Constants()) -> TruthEstimate:  # noqa: B008
    """Compute the posterior and effective confidence of every value of every object.

    The equations are in the docstring of `malsim.laws.records`.
    """
    size, cell = len(evidence.object_rep), evidence.object * evidence.values + evidence.value
    count = np.bincount(cell, minlength=size * evidence.values).reshape(size, -1).astype(np.float64)
    shares = count / np.maximum(count.sum(axis=1, keepdims=True), 1.0)  # the sum is 0 if all claims are verified
    p, depth = _pinned(evidence, shares), depths(evidence, constants)
    votes = _swept(evidence, p, depth, constants)
    if not (evidence.pinned >= 0).any():
        return votes
    learnt = _learn(replace(evidence, weight=starting_weights(evidence)), p, constants)
    begun = _believe(evidence, learnt, np.zeros(len(evidence.writer)), p, depth, constants).p
    start = np.where(begins_verified(evidence)[:, None], begun, p)
    return likelier_end(evidence, votes, _swept(evidence, start, depth, constants))


def _swept(evidence: Evidence, p: Array, depth: Array, constants: Constants) -> TruthEstimate:
    cell = evidence.object * evidence.values + evidence.value
    teaching = replace(evidence, weight=learning_weights(evidence, constants))
    for _ in range(constants.sweeps):
        learnt = _learn(teaching, p, constants)
        stated = constants.share_stated * stated_terms(teaching, p.ravel().take(cell), constants)
        p, terms, prior = believed = _believe(evidence, learnt, stated, p, depth, constants)
    effective = worth(p, evidence.voices[:, None], evidence.values, constants)
    effective /= np.maximum(1.0, effective.sum(axis=1, keepdims=True))
    estimate = TruthEstimate(posterior=p, effective=effective, record=learnt.record, terms=terms.T, prior=prior, depth=depth)
    if not (evidence.pinned >= 0).any():
        return estimate
    return replace(
        estimate,
        log_posterior=_log_posterior(evidence, learnt, believed, depth, constants),
        left_out=_left_out(evidence, learnt, stated, p, depth, constants),
    )


def depths(evidence: Evidence, constants: Constants) -> Array:
    """Compute λ for each replication: the weight of the confusion matrices, which grows with the number of claim pairs.

    λ = Σ n_o (n_o − 1) / 2 / (Σ n_o (n_o − 1) / 2 + H · writers · K (K − 1))
    """
    pairs = sums(evidence.voices * (evidence.voices - 1.0) / 2.0, evidence.object_rep, evidence.reps)
    writers = np.bincount(evidence.writer_rep, minlength=evidence.reps)
    needed = constants.pairs * np.maximum(writers, 1) * evidence.values * (evidence.values - 1)
    depth: Array = pairs / (pairs + needed)
    return depth


def _pinned(evidence: Evidence, p: Array) -> Array:
    pins = evidence.pinned[:, None]
    return np.where(pins >= 0, np.arange(evidence.values) == pins, p)


def _learn(evidence: Evidence, p: Array, constants: Constants) -> _Records:
    k, writers = evidence.values, len(evidence.writer_rep)
    cell = evidence.writer * k + evidence.value
    about = evidence.object
    parts = (sums(row.take(about) * evidence.weight, cell, writers * k) for row in p.T.copy())
    counts = np.stack([part.reshape(writers, k) for part in parts], axis=1)  # shape [writer, truth, value]
    agreed, total = np.trace(counts, axis1=1, axis2=2), counts.sum(axis=(1, 2))
    rep = evidence.writer_rep
    rate = (sums(agreed, rep, evidence.reps) + 0.7 * constants.pool) / (sums(total, rep, evidence.reps) + constants.pool)
    pool = np.clip(rate, 1.0 / k + 0.02, 0.98)
    record = np.clip((agreed + constants.record * pool[rep]) / (total + constants.record), 0.02, 0.98)
    every = np.zeros((evidence.reps, k, k))
    np.add.at(every, rep, counts)
    item = np.where(np.eye(k, dtype=bool), pool[:, None, None], (1.0 - pool[:, None, None]) / (k - 1))
    shared = every + constants.pool * item
    shared /= shared.sum(axis=2, keepdims=True)
    expected = _tilted(shared[rep], record, pool[rep])
    theta = (counts + constants.confusion * expected) / (counts.sum(axis=2, keepdims=True) + constants.confusion)
    return _Records(rate, pool, record, expected, theta, counts)


def _tilted(shared: Array, record: Array, pool: Array) -> Array:
    """Return the pooled confusion matrices, with the diagonal's odds scaled by the writer's record relative to the pool."""
    tilt = (record / (1.0 - record)) / (pool / (1.0 - pool))
    diagonal = np.diagonal(shared, axis1=1, axis2=2)
    odds = diagonal / (1.0 - diagonal) * tilt[:, None]
    right = odds / (1.0 + odds)
    scaled = shared * ((1.0 - right) / (1.0 - diagonal))[:, :, None]
    indices = np.arange(shared.shape[1])
    scaled[:, indices, indices] = right
    return scaled


def _believe(evidence: Evidence, learnt: _Records, stated: Array, p: Array, depth: Array, constants: Constants) -> _Believed:
    k, objects = evidence.values, len(evidence.object_rep)
    cell, flat = evidence.writer * k * k + evidence.value, np.log(np.maximum(learnt.theta, LEAST)).ravel()
    terms = np.stack([flat.take(cell + truth * k) for truth in range(k)])  # shape [truth, claim]
    deep, right = depth[evidence.object_rep[evidence.object]], learnt.record[evidence.writer]
    terms *= deep
    terms[evidence.value, np.arange(len(cell))] += (1.0 - deep) * np.log(right * (k - 1.0) / (1.0 - right)) + stated
    terms *= evidence.scale(constants)
    total = np.stack([sums(row, evidence.object, objects) for row in terms], axis=1)
    mass = np.stack([sums(column, evidence.object_rep, evidence.reps) for column in p.T], axis=1)
    count = np.bincount(evidence.object_rep, minlength=evidence.reps)[:, None]
    prior = depth[:, None] * np.log((mass + 2.0 / k) / (count + 2.0))
    height = prior[evidence.object_rep] + total
    height = np.exp(height - height.max(axis=1, keepdims=True))
    return _Believed(_pinned(evidence, height / height.sum(axis=1, keepdims=True)), terms, prior)


def _log_posterior(evidence: Evidence, learnt: _Records, believed: _Believed, depth: Array, constants: Constants) -> Array:
    """Compute each replication's joint log likelihood of claims, verified facts and records, up to a constant.

    Σ_o log Σ_k prior(k) exp(Σ T(k)), with the verified value alone for a verified o, + Σ_i e_i (1 − λ)
    log((1 − a_w) / (K − 1)), scaled like T, + log prior of the records − λ KC Σ_w KL(M_w | θ_w)
    """
    k, facts = evidence.values, evidence.pinned >= 0
    rep = evidence.object_rep[evidence.object]
    prior = believed.prior - np.logaddexp.reduce(believed.prior, axis=1)[:, None]
    height = prior[evidence.object_rep]
    height += np.stack([sums(row, evidence.object, len(facts)) for row in believed.terms], axis=1)
    at_fact = height[np.arange(len(facts)), np.maximum(evidence.pinned, 0)]
    likely = np.where(facts, at_fact, np.logaddexp.reduce(height, axis=1))
    wrong = (1.0 - depth[rep]) * np.log((1.0 - learnt.record[evidence.writer]) / (k - 1.0)) * evidence.scale(constants)
    shift = (learnt.expected * np.log(learnt.expected / learnt.theta)).sum(axis=(1, 2))
    total: Array = (
        sums(likely, evidence.object_rep, evidence.reps) + sums(wrong, rep, evidence.reps)
        + prior_of_records(evidence, learnt.rate, learnt.pool, learnt.record, constants)
        - depth * constants.confusion * sums(shift, evidence.writer_rep, evidence.reps)
    )  # fmt: skip
    return total


def _left_out(evidence: Evidence, learnt: _Records, stated: Array, p: Array, depth: Array, constants: Constants) -> Array:
    """Compute the leave-one-out log likelihood of each replication's verified facts: no fact affects its own records."""
    rows = np.flatnonzero(evidence.pinned[evidence.object] >= 0)
    index, who, value = np.arange(len(rows)), evidence.writer[rows], evidence.value[rows]
    truth, weight = evidence.pinned[evidence.object[rows]], learning_weights(evidence, constants)[rows]
    counts = learnt.counts[who]
    counts[index, truth, value] -= weight
    agreed, total = np.trace(counts, axis1=1, axis2=2), counts.sum(axis=(1, 2))
    pool = learnt.pool[evidence.writer_rep[who]]
    record = np.clip((agreed + constants.record * pool) / (total + constants.record), 0.02, 0.98)
    expected = _tilted(learnt.expected[who], record, learnt.record[who])
    theta = (counts + constants.confusion * expected) / (counts.sum(axis=2, keepdims=True) + constants.confusion)
    judged = replace(
        evidence, writer=index, writer_rep=evidence.writer_rep[who], pinned=np.full_like(evidence.pinned, -1), value=value,
        object=evidence.object[rows], weight=evidence.weight[rows], bin=evidence.bin[rows],
    )  # fmt: skip
    believed = _believe(judged, learnt._replace(record=record, theta=theta), stated[rows], p, depth, constants).p
    facts = np.flatnonzero(evidence.pinned >= 0)
    given = worth(believed[facts], evidence.voices[facts, None], evidence.values, constants)
    return log_given(evidence, given.sum(axis=1), given[np.arange(len(facts)), evidence.pinned[facts]])
