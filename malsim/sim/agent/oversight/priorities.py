"""Disputes about facts, and the triage policies that rank disputes for review.

No policy has access to the truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.graph.arrays import sum_in_order
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.sim.context.snapshot import Snapshot


@dataclass(frozen=True)
class TriageContext:
    """Input to a triage policy. Tables have the shape (facts, replications).

    `acted` counts the reader's actions on each fact. `luck` has uniform random numbers from 0 to 1. `accuracy` is the
    probability that a reviewer observes the true value. `lasts` is the time constant of each fact's class, in ticks.
    `signal` is the value of `triage-rank` for each row of the memory, or empty if the policy does not use it.
    """

    disputes: DisputesByFact
    acted: Array
    luck: Array
    accuracy: float
    lasts: Array
    signal: Array


def uncertain(context: TriageContext) -> Array:
    shares = np.sort(context.disputes.shares(), axis=0)
    return np.asarray(shares[-2] - shares[-1])


def rank(context: TriageContext) -> Array:
    # append 0, which is then selected by the index NONE (-1)
    disputes, signal = context.disputes, np.append(context.signal, 0.0)
    return np.asarray(np.maximum(signal[disputes.lead], signal[disputes.rival]))


def value(context: TriageContext) -> Array:
    demand = (1.0 + context.acted) / (1.0 + context.acted).sum(axis=0)
    shares = context.disputes.judged_shares(context.accuracy, context.lasts)
    return np.asarray(value_of_look(shares, context.accuracy) * demand)


def value_of_look(shares: Array, accuracy: float) -> Array:
    """Return how much a single observation raises the probability that the most probable value is true.

        V = Σ_v max_k p_k L(v|k) − max_k p_k;  L(v|k) = accuracy if v = k, else (1 − accuracy) / (K − 1)

    `shares` are the p_k, shape (K, …) with K ≥ 2; they sum to 1 over the first axis. The result is 0 or more. Source:
    Howard, Information value theory, 1966.

    >>> value_of_look(np.array([[0.5, 0.9], [0.5, 0.1]]), 1.0).round(3).tolist()
    [0.5, 0.1]
    """
    count = len(shares)
    likely = np.where(np.eye(count, dtype=bool), accuracy, (1.0 - accuracy) / max(count - 1, 1))
    joint = likely.reshape(count, count, *(1,) * (shares.ndim - 1)) * shares
    added: Array = sum_in_order(joint.max(axis=1), axis=0) - shares.max(axis=0)
    return np.maximum(added, 0.0)


FORGETS = 0.7  # factor by which `swing` decays per tick


class DisputesByFact:
    """State of the dispute about each fact in each replication. Tables have the shape (facts, replications).

    `worth`, shape (values, facts, replications), is the highest score of any active claim of each value, or 0 if no claim
    states the value. `lead` is the row of the best claim, and `rival` the row of the best claim that states a different
    value, or NONE. `swing` is a decaying sum of the tick-to-tick changes of `worth`. `since` is the tick at which the
    dispute began.
    """

    def __init__(self, facts: int, replications: int, *, who: int) -> None:
        shape = (facts, replications)
        self._who, self._rows, self._ticks = who, 0, 0
        self.newest, self._last_review = np.full((2, *shape), NONE, dtype=np.int64)
        self.lead, self.rival, self.since = np.full((3, *shape), NONE, dtype=np.int64)
        self.swing, self.worth = np.zeros(shape), np.zeros((1, *shape))
        self.disputed: Bools = np.zeros(shape, dtype=bool)
        self._verdict, self._verdict_at = np.full((2, *shape), NONE, dtype=np.int64)

    def look(self, snapshot: Snapshot) -> None:
        self._ticks += 1
        self._take_new(snapshot)
        cell_index, size = snapshot.cell_index, self.newest.size
        speaks = np.flatnonzero(snapshot.active & (cell_index.value != NONE) & (cell_index.fact != NONE))
        best = np.full(cell_index.most_values * size, NONE, dtype=np.int64)
        # sort so that the best claim comes last; among equal claims, the earliest comes last
        rising = speaks[np.lexsort((-speaks, snapshot.worth[speaks]))]
        best[cell_index.says[rising]] = rising
        by_value = best.reshape(-1, *self.newest.shape)
        worth = np.where(by_value == NONE, 0.0, np.maximum(snapshot.worth[by_value], 0.0) if len(snapshot.worth) else 0.0)
        moved = np.abs(worth - self.worth).max(axis=0) if worth.shape == self.worth.shape else 0.0
        self.swing, self.worth = FORGETS * self.swing + moved, worth
        order = np.argsort(np.where(by_value == NONE, np.inf, -worth), axis=0, kind="stable")
        self.lead, self.rival = (np.take_along_axis(by_value, order[index][None], axis=0)[0] for index in (0, 1))
        disputed = (self.lead != NONE) & (self.rival != NONE)
        self.since = np.where(disputed & ~self.disputed, self._ticks, self.since)
        self.disputed = disputed

    @property
    def is_open(self) -> Bools:
        """Mask of disputes about which someone other than a reviewer has made a claim since the last review."""
        return np.asarray(self.disputed & (self.newest > self._last_review))

    def close(self, fact: Ints, rep: Ints) -> None:
        self._last_review[fact, rep] = self.newest[fact, rep]
        self.since[fact, rep] = self._ticks

    def decide(self, fact: Ints, rep: Ints, value: Ints) -> None:
        self._verdict[fact, rep], self._verdict_at[fact, rep] = value, self._ticks

    def shares(self) -> Array:
        floored = np.maximum(self.worth, LEAST)
        return np.asarray(floored / sum_in_order(floored, axis=0))

    def judged_shares(self, accuracy: float, lasts: Array) -> Array:
        """Return each value's share of support, updated with the last verdict, which decays to 1/e after `lasts` ticks.

        p_k ∝ share_k (h L(v|k) + (1 − h) / K);  h = exp(−age / lasts)
        """
        shares, count = self.shares(), len(self.worth)
        fresh = np.where(self._verdict == NONE, 0.0, np.exp((self._verdict_at - self._ticks) / lasts[:, None]))
        verdict = np.arange(count)[:, None, None] == self._verdict
        likely = np.where(verdict, accuracy, (1.0 - accuracy) / max(count - 1, 1))
        judged = shares * (fresh * likely + (1.0 - fresh) / count)
        return judged / sum_in_order(judged, axis=0)

    def _take_new(self, snapshot: Snapshot) -> None:
        cell_index, view = snapshot.cell_index, snapshot.view
        new = np.arange(self._rows, len(view))
        self._rows = len(view)
        about = new[(cell_index.fact[new] != NONE) & (view.writer[new] != self._who)]
        np.maximum.at(self.newest, (cell_index.fact[about], cell_index.rep[about]), about)


LEAST = 0.02  # score assumed for a value that nobody claims

PRIORITIES: dict[str, Callable[[TriageContext], Array]] = {
    "first": lambda context: -context.disputes.since.astype(np.float64),
    "swing": lambda context: context.disputes.swing,
    "acted": lambda context: context.acted,
    "uncertain": uncertain,
    "rank": rank,
    "value": value,
    "random": lambda context: context.luck,
}
