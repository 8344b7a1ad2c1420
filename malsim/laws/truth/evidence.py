"""Evidence for the law `records`: one claim per writer and object, stored in columns for all replications together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Array, Ints

BINS = (0.5001, 0.6, 0.7, 0.8, 0.9, 0.95, 0.985)  # inclusive upper ends of the stated-confidence bins
SURE = 1e-12  # minimum distance of a posterior from 0 and 1 before taking its logit


@dataclass(frozen=True)
class Constants:
    """Constants of the law `records`: KW, KC, KP, KB (in claims), S, R_IN, D0, R_OUT, EPS, H, PIN, and the sweep count."""

    record: float = 4.0
    confusion: float = 8.0
    pool: float = 50.0
    stated: float = 60.0
    share_stated: float = 0.6
    voices_in: float = 0.01
    divisor: float = 3.0
    voices_out: float = 0.2
    floor: float = 0.05
    pairs: float = 3.0
    verified: float = 5.0
    sweeps: int = 20


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Claims as columns: writer index, object index, value, weight e, and the bin of the stated confidence (-1 if none).

    Each writer and object belongs to one of `reps` replications: `writer_rep`, `object_rep`. `pinned` holds an object's
    verified value, or -1. In the closed form a value is an index below `values`; in the open form a value is an item,
    whose object is in `item_object`.
    """

    writer: Ints
    object: Ints
    value: Ints
    weight: Array
    bin: Ints
    writer_rep: Ints
    object_rep: Ints
    reps: int
    pinned: Ints
    values: int = 0
    item_object: Ints | None = None

    @cached_property
    def voices(self) -> Array:
        return np.bincount(self.object, minlength=len(self.object_rep)).astype(np.float64)

    @property
    def items(self) -> Ints:
        """Object index of each item. Raises `TypeError` in the closed form, which has no items."""
        if self.item_object is None:
            raise TypeError("evidence for the closed form has no items")
        return self.item_object

    @cached_property
    def item_values(self) -> Ints:
        """Number of claimed values of each object, at least 2: K_o in the open form."""
        return np.maximum(2, np.bincount(self.items, minlength=len(self.object_rep)))

    @cached_property
    def stating(self) -> Ints:
        return np.flatnonzero(self.bin >= 0)

    @cached_property
    def bins(self) -> Ints:
        """Bin index of each claim with a stated confidence, numbered across replications."""
        return self.object_rep[self.object[self.stating]] * (len(BINS) + 1) + self.bin[self.stating]

    def scale(self, constants: Constants) -> Array:
        """Compute the factor applied to each claim's log likelihood, e / (1 + R_IN (n_o − 1))."""
        return self.weight / (1.0 + constants.voices_in * (self.voices - 1.0))[self.object]


@dataclass(frozen=True, kw_only=True)
class TruthEstimate:
    """Beliefs, writer records and per-claim terms after the last sweep.

    `posterior` (P) and `effective` have the shape [objects, values], or [items] in the open form. `record` is a_w of
    the last sweep. `terms` is T [claims, values], or [claims] in the open form; `prior` is the log prior added to the
    terms. `depth` is λ per replication, None in the open form. With verified facts, `log_posterior` is the joint log
    likelihood of claims, facts and records per replication, and `left_out` the log likelihood of the facts, each judged
    by records learnt without that fact.
    """

    posterior: Array
    effective: Array
    record: Array
    terms: Array
    prior: Array
    depth: Array | None = None
    log_posterior: Array | None = None
    left_out: Array | None = None


def latest(writer: Ints, object_: Ints, time: Array) -> Ints:
    """Return the rows of each writer's latest claim about each object, in order. If times are equal, the last row wins.

    >>> latest(np.array([0, 0, 1]), np.array([5, 5, 5]), np.array([2.0, 1.0, 0.0])).tolist()
    [0, 2]
    """
    order = np.lexsort((time, object_, writer))
    last = np.ones(len(order), dtype=bool)
    ahead, after = order[:-1], order[1:]
    last[:-1] = (writer[ahead] != writer[after]) | (object_[ahead] != object_[after])
    return np.sort(order[last])


def stated_bins(stated: Array) -> Ints:
    """Return the bin index of each stated confidence, -1 for NaN.

    >>> stated_bins(np.array([0.6, 0.61, np.nan])).tolist()
    [1, 2, -1]
    """
    return np.where(np.isnan(stated), -1, np.searchsorted(BINS, stated, side="left"))


def sums(weights: Array, group: Ints, groups: int) -> Array:
    total: Array = np.bincount(group, weights=weights, minlength=groups).astype(np.float64, copy=False)
    return total


def learning_weights(evidence: Evidence, constants: Constants) -> Array:
    """Compute each claim's weight in learning its writer's record; 0 if no other writer makes a claim about the object.

    u_i = e_i [n_o ≥ 2], times PIN where o is pinned. The weight is 0 if n_o = 1, because a single claim agrees with itself.
    """
    shared = evidence.voices > 1.0
    factor = shared * np.where(evidence.pinned >= 0, constants.verified, 1.0)
    learnt: Array = evidence.weight * factor[evidence.object]
    return learnt


def stated_terms(evidence: Evidence, agreed: Array, constants: Constants) -> Array:
    """Compute c(i), the log ratio of how often claim i's confidence bin occurs among agreeing and among differing claims.

    The ratio is 0 for a bin in which no claim has any weight.
    """
    width, rows, bins = len(BINS) + 1, evidence.stating, evidence.bins
    weight = evidence.weight[rows]
    counts = [np.bincount(bins, weights=row, minlength=evidence.reps * width) for row in (agreed[rows] * weight, weight)]
    right, every = (count.reshape(-1, width) for count in counts)
    total = every.sum(axis=1, keepdims=True)
    common = every / np.where(total == 0.0, 1.0, total)
    agree, differ = (
        (count + constants.stated * common) / (count.sum(axis=1, keepdims=True) + constants.stated)
        for count in (right, every - right)
    )
    ratio = np.log(np.divide(agree, differ, out=np.ones_like(common), where=common > 0.0))
    terms = np.zeros(len(agreed))
    terms[rows] = ratio.ravel()[bins]
    return terms


def worth(posterior: Array, voices: Array, values: Array | Ints | int, constants: Constants) -> Array:
    """Compute effective confidence from the posterior's logit, a divisor that grows with the number of claims, and a floor.

    effective = (1 − EPS) · sigmoid(logit P / (D0 + R_OUT (n_o − 1))) + EPS / K; not yet normalised over an object's values
    """
    p = np.clip(posterior, SURE, 1.0 - SURE)
    logit = np.log(p / (1.0 - p)) / (constants.divisor + constants.voices_out * (voices - 1.0))
    effective: Array = (1.0 - constants.floor) / (1.0 + np.exp(-logit)) + constants.floor / values
    return effective
