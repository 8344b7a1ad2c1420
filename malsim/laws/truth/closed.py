"""`records` where all objects share their values: what writers take for what, learnt from what the pool agrees on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from malsim.laws.truth.evidence import (
    Constants,
    TruthEstimate,
    knows_facts,
    learning_weights,
    pinned_weights,
    share,
    stated_terms,
    worth,
)

if TYPE_CHECKING:
    from malsim.laws.truth.evidence import Evidence
    from malsim.memory.graph.arrays import Array

__all__ = ["closed"]

LEAST = 0.001  # of a likelihood


class _Records(NamedTuple):
    """What one pass learns of writers: their record a_w, and log θ by writer, truth and value."""

    record: Array
    log_theta: Array


def closed(evidence: Evidence, constants: Constants = Constants()) -> TruthEstimate:  # noqa: B008  # frozen
    """Posterior and effective confidence of every value of every object; see the law `records` for the equations."""
    p, scale, depth = _pinned(evidence, _start(evidence)), evidence.scale(constants), depths(evidence, constants)
    cell = evidence.object * evidence.values + evidence.value
    if (evidence.pinned >= 0).any():
        learnt = _learn(replace(evidence, weight=pinned_weights(evidence)), p, constants)
        begun, _, _ = _believe(evidence, learnt, np.zeros(len(evidence.writer)), p, scale, depth)
        p = np.where(knows_facts(evidence)[:, None], begun, p)
    terms, prior = np.zeros((evidence.values, len(evidence.writer))), np.zeros((evidence.reps, evidence.values))
    learnt, teaching = _Records(np.zeros(0), np.zeros(0)), replace(evidence, weight=learning_weights(evidence, constants))
    for _ in range(constants.sweeps):
        learnt = _learn(teaching, p, constants)
        stated = constants.share_stated * stated_terms(teaching, p.ravel().take(cell), constants)
        p, terms, prior = _believe(evidence, learnt, stated, p, scale, depth)
    effective = worth(p, evidence.voices[:, None], evidence.values, constants)
    effective /= np.maximum(1.0, effective.sum(axis=1, keepdims=True))
    return TruthEstimate(posterior=p, effective=effective, record=learnt.record, terms=terms.T, prior=prior, depth=depth)


def depths(evidence: Evidence, constants: Constants) -> Array:
    """λ of each replication: how far confusions are believed, by the pairs of claims that they can be learnt from.

    λ = Σ n_o (n_o − 1) / 2 / (Σ n_o (n_o − 1) / 2 + H · writers · K (K − 1))
    """
    pairs = share(evidence.voices * (evidence.voices - 1.0) / 2.0, evidence.object_rep, evidence.reps)
    writers = np.bincount(evidence.writer_rep, minlength=evidence.reps)
    needed = constants.pairs * np.maximum(writers, 1) * evidence.values * (evidence.values - 1)
    depth: Array = pairs / (pairs + needed)
    return depth


def _start(evidence: Evidence) -> Array:
    """Shares of the claims about each object."""
    size, cell = len(evidence.object_rep), evidence.object * evidence.values + evidence.value
    votes = np.bincount(cell, minlength=size * evidence.values).reshape(size, -1).astype(np.float64)
    shares: Array = votes / np.maximum(votes.sum(axis=1, keepdims=True), 1.0)  # 0 where all there is was verified
    return shares


def _pinned(evidence: Evidence, p: Array) -> Array:
    """P with the verified values at 1."""
    pins = evidence.pinned[:, None]
    return np.where(pins >= 0, np.arange(evidence.values) == pins, p)


def _learn(evidence: Evidence, p: Array, constants: Constants) -> _Records:
    """A, a_w, M, M_w and θ_w from what is believed now."""
    k, writers = evidence.values, len(evidence.writer_rep)
    cell = evidence.writer * k + evidence.value
    about = evidence.object
    parts = (share(row.take(about) * evidence.weight, cell, writers * k) for row in p.T.copy())
    counts = np.stack([part.reshape(writers, k) for part in parts], axis=1)  # [writer, truth, value]
    agreed, total = np.trace(counts, axis1=1, axis2=2), counts.sum(axis=(1, 2))
    rep = evidence.writer_rep
    pool = (share(agreed, rep, evidence.reps) + 0.7 * constants.pool) / (share(total, rep, evidence.reps) + constants.pool)
    pool = np.clip(pool, 1.0 / k + 0.02, 0.98)
    record = np.clip((agreed + constants.record * pool[rep]) / (total + constants.record), 0.02, 0.98)
    every = np.zeros((evidence.reps, k, k))
    np.add.at(every, rep, counts)
    one = np.where(np.eye(k, dtype=bool), pool[:, None, None], (1.0 - pool[:, None, None]) / (k - 1))
    shared = every + constants.pool * one
    shared /= shared.sum(axis=2, keepdims=True)
    own = _tilted(shared[rep], record, pool[rep])
    theta = (counts + constants.confusion * own) / (counts.sum(axis=2, keepdims=True) + constants.confusion)
    return _Records(record, np.log(np.maximum(theta, LEAST)))


def _tilted(shared: Array, record: Array, pool: Array) -> Array:
    """The pool's confusions with the odds of the diagonal times the writer's over the pool's."""
    tilt = (record / (1.0 - record)) / (pool / (1.0 - pool))
    diagonal = np.diagonal(shared, axis1=1, axis2=2)
    odds = diagonal / (1.0 - diagonal) * tilt[:, None]
    right = odds / (1.0 + odds)
    scaled = shared * ((1.0 - right) / (1.0 - diagonal))[:, :, None]
    places = np.arange(shared.shape[1])
    scaled[:, places, places] = right
    return scaled


def _believe(
    evidence: Evidence, learnt: _Records, stated: Array, p: Array, scale: Array, depth: Array
) -> tuple[Array, Array, Array]:
    """P of every object, with the terms of its claims [values, claims] and the log prior of each replication."""
    k, objects = evidence.values, len(evidence.object_rep)
    cell, flat = evidence.writer * k * k + evidence.value, learnt.log_theta.ravel()
    terms = np.stack([flat.take(cell + truth * k) for truth in range(k)])  # [truth, claim]
    deep, right = depth[evidence.object_rep[evidence.object]], learnt.record[evidence.writer]
    terms *= deep
    terms[evidence.value, np.arange(len(cell))] += (1.0 - deep) * np.log(right * (k - 1.0) / (1.0 - right)) + stated
    terms *= scale
    total = np.stack([share(row, evidence.object, objects) for row in terms], axis=1)
    mass = np.stack([share(column, evidence.object_rep, evidence.reps) for column in p.T], axis=1)
    count = np.bincount(evidence.object_rep, minlength=evidence.reps)[:, None]
    prior = depth[:, None] * np.log((mass + 2.0 / k) / (count + 2.0))
    height = prior[evidence.object_rep] + total
    height = np.exp(height - height.max(axis=1, keepdims=True))
    return _pinned(evidence, height / height.sum(axis=1, keepdims=True)), terms, prior
