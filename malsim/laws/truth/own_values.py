"""`records` where each object has values of its own: one record a writer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

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
    from malsim.memory.graph.arrays import Array, Ints

__all__ = ["own_values"]


def own_values(evidence: Evidence, constants: Constants = Constants()) -> TruthEstimate:  # noqa: B008  # frozen
    """Posterior and effective confidence of every item, an object's value that somebody claimed."""
    items = evidence.items
    claimed = np.bincount(items, minlength=len(evidence.object_rep))
    values = np.maximum(2, claimed)  # K_o
    p = _pinned(evidence, _start(evidence))
    if (evidence.pinned >= 0).any():
        record = _learn(replace(evidence, weight=pinned_weights(evidence)), p, constants)
        begun, _ = _believe(evidence, record, np.zeros(len(evidence.writer)), values - claimed, constants)
        p = np.where(knows_facts(evidence)[items], begun, p)
    record, terms = np.zeros(len(evidence.writer_rep)), np.zeros(len(evidence.writer))
    teaching = replace(evidence, weight=learning_weights(evidence, constants))
    for _ in range(constants.sweeps):
        record = _learn(teaching, p, constants)
        stated = stated_terms(teaching, p[evidence.value], constants)
        p, terms = _believe(evidence, record, stated, values - claimed, constants)
    effective = worth(p, evidence.voices[items], values[items], constants)
    effective /= np.maximum(1.0, share(effective, items, len(evidence.object_rep)))[items]
    return TruthEstimate(posterior=p, effective=effective, record=record, terms=terms, prior=np.zeros(len(p)))


def _start(evidence: Evidence) -> Array:
    """Shares of the claims about each object."""
    votes = np.bincount(evidence.value, minlength=len(evidence.items)).astype(np.float64)
    total = share(votes, evidence.items, len(evidence.object_rep))[evidence.items]
    shares: Array = votes / np.maximum(total, 1.0)  # where all there is was verified, nobody else claims anything
    return shares


def _pinned(evidence: Evidence, p: Array) -> Array:
    """P with the verified items at 1 and the others of their objects at 0."""
    pin = evidence.pinned[evidence.items]
    return np.where(pin >= 0, np.arange(len(p)) == pin, p)


def _learn(evidence: Evidence, p: Array, constants: Constants) -> Array:
    """A writer's record a_w, from what is believed now."""
    writers, rep = len(evidence.writer_rep), evidence.writer_rep
    agreed = share(evidence.weight * p[evidence.value], evidence.writer, writers)
    total = share(evidence.weight, evidence.writer, writers)
    pool = (share(agreed, rep, evidence.reps) + 0.7 * constants.pool) / (share(total, rep, evidence.reps) + constants.pool)
    pool = np.clip(pool, 0.52, 0.98)
    return np.clip((agreed + constants.record * pool[rep]) / (total + constants.record), 0.02, 0.98)


def _believe(evidence: Evidence, record: Array, stated: Array, unseen: Ints, constants: Constants) -> tuple[Array, Array]:
    """P of every item, with the term of each claim."""
    items, objects = evidence.items, len(evidence.object_rep)
    values = unseen + np.bincount(items, minlength=objects)
    right = record[evidence.writer]
    likely = np.log(right * (values[evidence.object] - 1.0) / (1.0 - right)) + constants.share_stated * stated
    terms = likely * evidence.scale(constants)
    total = share(terms, evidence.value, len(items))
    top = np.zeros(objects)  # an unseen value has a height of 0
    np.maximum.at(top, items, total)
    height = np.exp(total - top[items])
    every = share(height, items, objects) + unseen * np.exp(-top)
    return _pinned(evidence, height / every[items]), terms
