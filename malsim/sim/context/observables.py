"""Signals measured after every tick: answers about the facts of the world, and the reader's turn."""

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

OF_FACTS = ("truth", "answer", "belief", "right", "for_truth", "against_truth")
TURN = (
    "acted", "acted_false", "acted_stale", "acted_init", "declined", "withheld", "blocks", "expanded", "words", "learned",
    "lost",
)  # fmt: skip

CONTEXT = ("shown", "shown_init")  # only if the reader's context is compacted


def cells_true(snapshot: Snapshot, truth: Ints) -> Bools:
    """Return the mask of the cells that state the true value of their fact; `truth` has shape (facts, replications)."""
    cell_index = snapshot.cell_index
    about = (cell_index.fact != NONE) & (cell_index.value != NONE)
    true: Bools = about & (cell_index.value == truth[cell_index.fact, cell_index.rep])
    return true


def truth_of_cells(snapshot: Snapshot, truth: Ints) -> NDArray[np.int8]:
    """Return 1 for cells that state the true value of their fact, 0 for other cells, −1 for cells about no fact."""
    return np.where(snapshot.cell_index.fact == NONE, NONE, cells_true(snapshot, truth)).astype(np.int8)


def best_by_value(snapshot: Snapshot, truth: Ints) -> Array:
    """Return the largest worth of an active claim of each value, shape (values, facts, replications); −∞ for none."""
    cell_index = snapshot.cell_index
    speaks = snapshot.speaking
    best = np.full(cell_index.most_values * truth.size, -np.inf)
    np.maximum.at(best, cell_index.says.take(speaks), snapshot.worth.take(speaks))
    return best.reshape(-1, *truth.shape)


def answers(snapshot: Snapshot, truth: Ints, by_value: Array, *, full: bool) -> dict[str, Array]:
    """Return the signals of OF_FACTS, each of shape (facts, replications), NaN for facts without an active claim.

    `answer` is the value of the most effective active claim, the earliest of equals, and `belief` its effective.
    `for_truth` and `against_truth` are the largest effective of a claim of the true value and of another value. Without
    `full`, `truth` and `answer`, whose values cannot be averaged, are left out. A memory without belief has only `right`,
    and its answer is the first by rank. A tie of k values counts as right by 1/k, unless the earliest value leads
    (`view.leads`). `by_value` comes from `best_by_value`.
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
    needs = ~silent & (full | (snapshot.view.leads & (good == bad)))  # the answer is recorded, or decides a tie
    if needs.any():
        index = cell_index.says.take(snapshot.speaking) % size
        needed = np.flatnonzero(needs.ravel().take(index))
        rows, index = snapshot.speaking[needed], index[needed]
        # in reversed order, so that the earliest is written last
        leads = np.flatnonzero(snapshot.worth[rows] == most.ravel()[index])[::-1]
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


def numbers(facts: Sequence[Fact], index: Array) -> Array:
    """Return the numbers of the values at an index of shape (facts, replications); NaN for index NaN."""
    table = [np.array([fact.number(v) for v in range(len(fact.values))] + [np.nan]) for fact in facts]
    rows = np.where(np.isnan(index), -1, index).astype(np.int64)
    return np.stack([values[row] for values, row in zip(table, rows, strict=True)]) if facts else index


def of_turn(counters: TurnCounters | None, waiting: Ints | None) -> dict[str, Array]:
    """Return the signals of the reader's turn and the number of cases waiting for reviewers, by replication."""
    names = TURN + (CONTEXT if counters and counters.compacts else ())
    signals = {name: counters.turn[name] for name in names} if counters else {}
    return signals | ({} if waiting is None else {"waiting": waiting.astype(np.float64)})
