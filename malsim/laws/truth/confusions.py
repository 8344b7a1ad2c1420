"""Dawid and Skene's expectation-maximisation, with its own numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.laws.truth.evidence import share

if TYPE_CHECKING:
    from malsim.laws.truth.evidence import Evidence
    from malsim.memory.graph.arrays import Array


def expected_truths(evidence: Evidence, *, sweeps: int, pseudo: float) -> Array:
    """Compute the posterior of every value of every object, starting from vote shares.

    prior(k) = mean over objects of P(k);  θ_w(k, v) = (Σ_w P(k) [v_i = v] + pseudo) / (Σ_w P(k) + K pseudo)
    P(k) ∝ prior(k) Π_i θ_w(i)(k, v_i)
    """
    k, objects, writers = evidence.values, len(evidence.object_rep), len(evidence.writer_rep)
    p = np.bincount(evidence.object * k + evidence.value, minlength=objects * k).reshape(objects, k).astype(np.float64)
    p /= p.sum(axis=1, keepdims=True)
    cell = evidence.writer * k + evidence.value
    item = np.bincount(evidence.object_rep, minlength=evidence.reps)[:, None]
    for _ in range(sweeps):
        belief = p.T[:, evidence.object]
        counts = np.stack([share(row, cell, writers * k).reshape(writers, k) for row in belief], axis=1)
        theta = (counts + pseudo) / (counts.sum(axis=2, keepdims=True) + k * pseudo)
        log_theta = np.log(theta)[evidence.writer, :, evidence.value]
        total = np.stack([share(column, evidence.object, objects) for column in log_theta.T], axis=1)
        mass = np.stack([share(column, evidence.object_rep, evidence.reps) for column in p.T], axis=1)
        prior = np.log((mass + pseudo) / (item + k * pseudo))
        height = total + prior[evidence.object_rep]
        height = np.exp(height - height.max(axis=1, keepdims=True))
        p = height / height.sum(axis=1, keepdims=True)
    return p
