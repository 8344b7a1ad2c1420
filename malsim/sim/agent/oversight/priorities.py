"""Priorities of disputes: a number for each fact of each replication; the largest is reviewed first.

Each policy is a function of what triage may know, never of the truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.graph.arrays import sum_in_order

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.memory.graph.arrays import Array
    from malsim.sim.agent.oversight.disputes_by_fact import DisputesByFact


@dataclass(frozen=True)
class TriageContext:
    """Input of a triage policy. Tables have the shape (facts, replications).

    `acted` counts the reader's actions on each fact. `luck` holds numbers from 0 to 1. `accuracy` is that of a
    reviewer's look. `lasts` is the number of ticks for which each fact persists, by its class. `signal` is the value of
    `triage-rank` for each row of the memory; it is empty under another policy.
    """

    disputes: DisputesByFact
    acted: Array
    luck: Array
    accuracy: float
    lasts: Array
    signal: Array


def first(context: TriageContext) -> Array:
    return -context.disputes.since.astype(np.float64)


def swing(context: TriageContext) -> Array:
    return context.disputes.swing


def acted(context: TriageContext) -> Array:
    return context.acted


def uncertain(context: TriageContext) -> Array:
    shares = np.sort(context.disputes.shares(), axis=0)
    margin: Array = shares[-2] - shares[-1]
    return margin


def rank(context: TriageContext) -> Array:
    """Prefer the fact whose leading claim, or its rival, has the highest value of the signal `triage-rank`."""
    disputes, signal = context.disputes, np.append(context.signal, 0.0)  # NONE is the last
    highest: Array = np.maximum(signal[disputes.lead], signal[disputes.rival])
    return highest


def value(context: TriageContext) -> Array:
    """Return the value of information: the gain in the chance of a right answer, times the actions on the fact."""
    demand = (1.0 + context.acted) / (1.0 + context.acted).sum(axis=0)
    shares = context.disputes.judged_shares(context.accuracy, context.lasts)
    total: Array = value_of_look(shares, context.accuracy) * demand
    return total


def random(context: TriageContext) -> Array:
    return context.luck


def value_of_look(shares: Array, accuracy: float) -> Array:
    """Return how much one look raises the probability that the most probable value is the true one.

        V = Σ_v max_k p_k L(v|k) − max_k p_k;  L(v|k) = accuracy where v = k, else (1 − accuracy) / (K − 1)

    `shares` are the p_k, shape (K, …), summing to 1 over the first axis, K 2 or more; the result is 0 or more.
    Source: Howard, Information value theory, 1966.

    >>> value_of_look(np.array([[0.5, 0.9], [0.5, 0.1]]), 1.0).round(3).tolist()
    [0.5, 0.1]
    """
    count = len(shares)
    likely = np.where(np.eye(count, dtype=bool), accuracy, (1.0 - accuracy) / max(count - 1, 1))
    joint = likely.reshape(count, count, *(1,) * (shares.ndim - 1)) * shares
    added: Array = sum_in_order(joint.max(axis=1), axis=0) - shares.max(axis=0)
    return np.maximum(added, 0.0)


PRIORITIES: dict[str, Callable[[TriageContext], Array]] = {
    one.__name__: one for one in (first, swing, acted, uncertain, rank, value, random)
}
