"""Measurements after every tick in every replication: answers to the world's facts, and the reader's turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.sim.context.snapshot import Snapshot
    from malsim.sim.context.turn import TurnCounters
    from malsim.sim.world import Fact

OF_FACTS = {
    "truth": "the fact's value",
    "answer": "the value of the most effective active claim, the earlier of two equals",
    "belief": "what that claim is worth",
    "right": "whether the answer is the truth",
    "for_truth": "the most that an active claim of the true value is worth",
    "against_truth": "the most that an active claim of another value is worth",
}
TURN = (
    "acted", "acted_false", "acted_stale", "acted_init", "declined", "withheld", "blocks", "expanded", "words", "learned",
    "lost",
)  # fmt: skip

CONTEXT = ("shown", "shown_init")  # only if the reader's context is compacted


def cells_true(snapshot: Snapshot, truth: Ints) -> Bools:
    """Return which cells hold the true value of their fact, False for cells about no fact.

    `truth` has the shape (facts, replications).
    """
    cell_index = snapshot.cell_index
    about = (cell_index.fact != NONE) & (cell_index.value != NONE)
    true: Bools = about & (cell_index.value == truth[cell_index.fact, cell_index.rep])
    return true


def truth_of_cells(snapshot: Snapshot, truth: Ints) -> NDArray[np.int8]:
    """Return 1 for each cell whose value is its fact's value now, 0 for the others, −1 for cells about no fact."""
    return np.where(snapshot.cell_index.fact == NONE, NONE, cells_true(snapshot, truth)).astype(np.int8)


def best_by_value(snapshot: Snapshot, truth: Ints) -> Array:
    """Return the largest worth of an active claim of each value, shape (values, facts, replications); −∞ for none."""
    cell_index = snapshot.cell_index
    speaks = snapshot.speaking
    best = np.full(cell_index.most_values * truth.size, -np.inf)
    np.maximum.at(best, cell_index.says.take(speaks), snapshot.worth.take(speaks))
    return best.reshape(-1, *truth.shape)


def answers(snapshot: Snapshot, truth: Ints, by_value: Array, *, full: bool) -> dict[str, Array]:
    """Return the signals of OF_FACTS, each of shape (facts, replications), NaN where no active claim is about the fact.

    Without `full`, `truth` and `answer`, whose values cannot be averaged, are left out. A memory without belief has no
    `belief`, `for_truth` and `against_truth`, and its answer leads by rank. An answer that k values share, where the memory
    lets a tie be one, is right by 1/k. `by_value` is as of `best_by_value`.
    """
    cell_index, size = snapshot.cell_index, truth.size
    best = by_value.ravel().copy()
    of_truth = truth.ravel() * size + np.arange(size)
    good = best.take(of_truth).reshape(truth.shape)
    best[of_truth] = -np.inf
    wrong = best.reshape(-1, *truth.shape)
    bad = wrong.max(axis=0)
    right, most = (good > bad).astype(np.float64), np.maximum(good, bad)
    silent = most == -np.inf
    answer = np.full(truth.shape, NONE)
    needs = ~silent & (full | (snapshot.view.leads & (good == bad)))  # where the answer is recorded or decides a tie
    if needs.any():
        index = cell_index.says.take(snapshot.speaking) % size
        here = np.flatnonzero(needs.ravel().take(index))
        rows, index = snapshot.speaking[here], index[here]
        leads = np.flatnonzero(snapshot.worth[rows] == most.ravel()[index])[
            ::-1
        ]  # reversed, so that the earliest is written last
        index, value = index[leads], cell_index.value[rows[leads]]
        answer.reshape(-1)[index] = value
        if snapshot.view.leads:
            right.reshape(-1)[index] = value == truth.ravel()[index]
    unclear = silent
    if not snapshot.view.leads:
        share = (good == most).astype(np.int64) + (wrong == most).sum(axis=0)
        right, unclear = np.where(good == most, 1.0 / share, 0.0), silent | (share > 1)
    signals = {"truth": truth.astype(np.float64), "answer": np.where(unclear, np.nan, answer)} if full else {}
    right = np.where(silent, np.nan, right)
    if snapshot.view.belief is None:
        return signals | {"right": right}
    return signals | {
        "belief": np.where(silent, np.nan, most),
        "right": right,
        "for_truth": np.where(good == -np.inf, np.nan, good),
        "against_truth": np.where(bad == -np.inf, np.nan, bad),
    }


def numbers(facts: Sequence[Fact], places: Array) -> Array:
    """Return the numbers of the values at indexes `places` (facts, replications); NaN for index NaN."""
    table = [np.array([fact.number(v) for v in range(len(fact.values))] + [np.nan]) for fact in facts]
    rows = np.where(np.isnan(places), -1, places).astype(np.int64)
    return np.stack([row[at] for row, at in zip(table, rows, strict=True)]) if facts else places


def of_turn(counters: TurnCounters | None, waiting: Ints | None) -> dict[str, Array]:
    """Return the reader's signals of a turn and the number of cases `waiting` for reviewers, one value per replication."""
    names = TURN + (CONTEXT if counters and counters.compacts else ())
    signals = {name: counters.turn[name] for name in names} if counters else {}
    return signals | ({} if waiting is None else {"waiting": waiting.astype(np.float64)})
