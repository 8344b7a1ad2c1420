"""Scores that compare answers with the truth: accuracy, AUC, Brier score, log loss and calibration error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from malsim.base.intervals import ends
from malsim.memory.graph.arrays import ratio, sum_in_order
from malsim.memory.schema import NONE
from malsim.sim.context.snapshot import cells_true

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.sim.context.snapshot import Snapshot

METRICS = ("accuracy", "auc", "brier", "log_loss", "ece")
CLIPPED = 1e-6
BINS = 15
RESAMPLES = 1000
_CHUNK = 100


@dataclass(frozen=True)
class Score:
    """Value and 95 % bootstrap interval of each metric. `objects` is the number of scored answers."""

    objects: int
    value: dict[str, float]
    interval: dict[str, tuple[float, float]]


def score(
    probability: NDArray[np.float64] | None, right: NDArray[np.bool_] | NDArray[np.float64], *, seed: int = 0
) -> Score:
    """Score answers by accuracy, AUC, Brier score, log loss and calibration error.

    `probability` is the belief in each answer, and `right` is 1, 0, or 1/k for a tie of k values; both have the shape
    (objects,).

    Without probabilities (None), all metrics except the accuracy are NaN. The interval is the 2.5 % to 97.5 % range over
    1,000 resamples of the objects, drawn from the seed.
    """
    count = len(right)
    if count == 0:
        nothing = dict.fromkeys(METRICS, float("nan"))
        return Score(0, nothing, dict.fromkeys(METRICS, (float("nan"), float("nan"))))
    if probability is None:
        whole = score(right.astype(np.float64), right, seed=seed)
        nan = float("nan")
        rest, intervals = dict.fromkeys(METRICS[1:], nan), dict.fromkeys(METRICS[1:], (nan, nan))
        return Score(count, whole.value | rest, whole.interval | intervals)
    values = metrics(probability, right, np.ones((1, count)))
    draws = np.random.Generator(np.random.Philox(key=seed))
    parts = [
        metrics(probability, right, draws.multinomial(count, np.full(count, 1 / count), size=_CHUNK).astype(np.float64))
        for _ in range(RESAMPLES // _CHUNK)
    ]
    spread = {name: np.concatenate([part[name] for part in parts]) for name in METRICS}
    return Score(count, {name: float(values[name][0]) for name in METRICS}, {name: ends(spread[name]) for name in METRICS})


def squared_error(probability: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the Brier score of each answer: right · (p − 1)² + (1 − right) · p².

    All arrays have the same shape and values in [0, 1]. For a tie of k values that include the true one, `right` is 1/k.

    >>> squared_error(np.array([0.9, 0.5]), np.array([1.0, 0.5])).round(3).tolist()
    [0.01, 0.25]
    """
    error: NDArray[np.float64] = (probability - right) ** 2 + right * (1.0 - right)
    return error


def metrics(
    probability: NDArray[np.float64], right: NDArray[np.bool_] | NDArray[np.float64], weight: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """Compute every metric once for each row of `weight`, which has the shape (resamples, objects).

    `right` is 1, 0, or 1/k for a tie of k values.

        accuracy = mean right;  brier = mean (right · (p − 1)² + (1 − right) · p²)
        log_loss = −mean log p(outcome), p clipped to [1e-6, 1 − 1e-6]
        ece = Σ over 15 equal bins of |Σ (right − p)| / n
        auc = P(p of a right answer > p of a wrong answer), where ties count one half

    >>> result = metrics(np.array([0.9, 0.8, 0.3]), np.array([True, True, False]), np.ones((1, 3)))
    >>> float(result["auc"][0]), round(float(result["accuracy"][0]), 3), round(float(result["brier"][0]), 4)
    (1.0, 0.667, 0.0467)
    """
    hit = right.astype(np.float64)
    total = weight.sum(axis=1)
    clipped = np.clip(probability, CLIPPED, 1.0 - CLIPPED)
    surprise = -hit * np.log(clipped) - (1.0 - hit) * np.log(1.0 - clipped)
    index = np.minimum((probability * BINS).astype(np.int64), BINS - 1)
    gaps = weight @ (np.eye(BINS)[index] * (hit - probability)[:, None])
    return {
        "accuracy": weight @ hit / total,
        "auc": _auc(probability, hit, weight),
        "brier": weight @ squared_error(probability, hit) / total,
        "log_loss": weight @ surprise / total,
        "ece": np.abs(gaps).sum(axis=1) / total,
    }


def _auc(probability: NDArray[np.float64], right: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    order = np.argsort(probability, kind="stable")
    begins = np.unique(probability[order], return_index=True)[1]
    good, bad = (np.add.reduceat((weight * share)[:, order], begins, axis=1) for share in (right, 1.0 - right))
    below = np.cumsum(bad, axis=1) - bad
    pairs = good.sum(axis=1) * bad.sum(axis=1)
    wins = (good * (below + 0.5 * bad)).sum(axis=1)
    return ratio(wins, pairs)


class RunningScores:
    """Per-replication counts and sums of scores, over the answers to every fact at every tick."""

    def __init__(self, replications: int) -> None:
        self.answered, self.questions, self.right, self.squares, self.against = (np.zeros(replications) for _ in range(5))
        self.believes = False  # True once any answer has had a belief

    def add(self, answers: Mapping[str, Array]) -> None:
        right = answers["right"]
        self.questions += len(right)
        self.answered += (~np.isnan(right)).sum(axis=0)
        self.right += _sum_over_facts(right)
        if "belief" in answers:
            self.believes = True
            self.squares += _sum_over_facts(squared_error(answers["belief"], right))
            self.against += _sum_over_facts(answers["against_truth"])


def _sum_over_facts(values: Array) -> Array:
    return sum_in_order(np.fmax(values, 0.0), axis=0)  # NaN and negative values count as 0


@dataclass(frozen=True)
class FinalScores:
    """Active cells about facts at the end of a run, one per row, and statistics of the claim graph.

    `effective` and `claimed` are the memory's belief and the writer's stated confidence; `true` marks claims that are true
    now. Per replication, `challenged` is the share of active cells with an incoming challenge, `grounded` the share of
    active cells whose writer has enough outcomes, and `calibrated` the share of these cells' writers that have enough
    outcomes. Fields that the memory does not provide are None.
    """

    rep: Ints
    effective: Array | None
    claimed: Array
    currency: Array | None
    true: Bools
    challenged: Array | None
    grounded: Array | None
    calibrated: Array | None
    cells: Ints

    @classmethod
    def of(cls, snapshot: Snapshot, truth: Ints) -> FinalScores:
        cell_index, view, active = snapshot.cell_index, snapshot.view, snapshot.active
        rep, fact, value = (column[: len(active)] for column in (cell_index.rep, cell_index.fact, cell_index.value))
        rep = rep.astype(np.int64)
        about = np.flatnonzero(active & (fact != NONE) & (value != NONE))
        true = cells_true(snapshot, truth) if len(truth) else np.zeros(len(rep), dtype=bool)
        size = truth.shape[1]
        count = np.maximum(np.bincount(rep[active], minlength=size), 1)

        def share(part: Bools | None) -> Array | None:
            return None if part is None else np.bincount(rep[active & part], minlength=size) / count

        challenge, claimed = view.column("challenge_mass"), view.column("claimed")
        return cls(
            rep=rep[about], effective=None if view.belief is None else view.belief[about],
            claimed=(view.stated if claimed is None else claimed)[about], currency=view.column("currency", about),
            true=true[about], challenged=share(None if challenge is None else challenge > 0.0),
            grounded=share(view.column("grounded")), calibrated=_calibrated(snapshot, size),
            cells=np.bincount(rep, minlength=size),
        )  # fmt: skip


def _calibrated(snapshot: Snapshot, size: int) -> Array | None:
    view, grounded = snapshot.view, snapshot.view.column("grounded")
    if grounded is None:
        return None
    rows = np.flatnonzero(snapshot.active & (view.writer != NONE))
    most = int(view.writer.max(initial=0)) + 1
    who, first = np.unique(snapshot.cell_index.rep[rows].astype(np.int64) * most + view.writer[rows], return_index=True)
    counts = np.bincount(who // most, minlength=size).astype(np.float64)
    enough = np.bincount(who // most, weights=grounded[rows[first]], minlength=size)
    return ratio(enough, counts)
