"""Votes weighted by how far writers agree with what is believed: the arithmetic of the laws `crh` and `truthfinder`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.laws.truth.evidence import share

if TYPE_CHECKING:
    from malsim.laws.truth.evidence import Evidence
    from malsim.memory.graph.arrays import Array, Ints

LEAST = 1e-6  # of a loss, so that a writer who is always right has a finite weight
MOST = 1.0 - 1e-9  # of a trust


def least_loss(evidence: Evidence, *, sweeps: int) -> Array:
    """Compute each item's share of the weight of its object's claims after CRH's sweeps.

    P(v) = Σ_w W_w [w says v] / Σ_w W_w;  loss_w = mean over its claims of Σ_v (P(v) − [w says v])²
    W_w = −log(loss_w / Σ_w loss_w), the sum over one replication
    """
    items, writers = evidence.items, len(evidence.writer_rep)
    count, weight = share(evidence.weight, evidence.writer, writers), np.ones(writers)
    for _ in range(sweeps):
        p = _shares(weight[evidence.writer], evidence, items)
        square = share(p * p, items, len(evidence.object_rep))
        item = square[evidence.object] - 2.0 * p[evidence.value] + 1.0
        loss = share(item, evidence.writer, writers) / count + LEAST
        weight = -np.log(loss / share(loss, evidence.writer_rep, evidence.reps)[evidence.writer_rep])
        weight = np.maximum(weight, LEAST)  # a writer who is alone
    return _shares(weight[evidence.writer], evidence, items)


def mutual_trust(evidence: Evidence, *, sweeps: int, start: float, damping: float, rivals: float) -> Array:
    """Compute the confidence of each item after TruthFinder's sweeps.

    σ(f) = Σ_w −log(1 − t_w);  σ*(f) = σ(f) − rivals Σ_f' σ(f'), f' the other values of its object
    s(f) = 1 / (1 + exp(−damping σ*(f)));  t_w = mean of s over its claims
    """
    items, writers = evidence.items, len(evidence.writer_rep)
    count, trust = share(evidence.weight, evidence.writer, writers), np.full(writers, start)
    sure = np.zeros(len(items))
    for _ in range(sweeps):
        score = share(-np.log1p(-np.minimum(trust, MOST))[evidence.writer], evidence.value, len(items))
        others = share(score, items, len(evidence.object_rep))[items] - score
        sure = 1.0 / (1.0 + np.exp(-damping * (score - rivals * others)))
        trust = share(sure[evidence.value], evidence.writer, writers) / count
    return sure


def _shares(weight: Array, evidence: Evidence, items: Ints) -> Array:
    mass = share(weight, evidence.value, len(items))
    shares: Array = mass / share(mass, items, len(evidence.object_rep))[items]
    return shares
