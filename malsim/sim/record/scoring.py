"""Scores of answers against the truth, as rankings and as probabilities, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from malsim.base.intervals import ends
from malsim.memory.graph.arrays import ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

METRICS = ("accuracy", "auc", "brier", "log_loss", "ece")
CLIPPED = 1e-6
BINS = 15
RESAMPLES = 1000
_CHUNK = 100


@dataclass(frozen=True)
class Score:
    """Value of each metric and its 95 % interval by bootstrap over `objects` questions."""

    objects: int
    value: dict[str, float]
    interval: dict[str, tuple[float, float]]


def score(
    probability: NDArray[np.float64] | None, right: NDArray[np.bool_] | NDArray[np.float64], *, seed: int = 0
) -> Score:
    """Score answers held with a probability against whether each was right (1/k of a tie of k); both of shape (objects,).

    Answers without a probability (None) have an accuracy, and NaN for the rest.

    The interval is the 2.5 % to 97.5 % range over 1,000 resamples of the objects, drawn from the seed.
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
    one = metrics(probability, right, np.ones((1, count)))
    draws = np.random.Generator(np.random.Philox(key=seed))
    parts = [
        metrics(probability, right, draws.multinomial(count, np.full(count, 1 / count), size=_CHUNK).astype(np.float64))
        for _ in range(RESAMPLES // _CHUNK)
    ]
    spread = {name: np.concatenate([part[name] for part in parts]) for name in METRICS}
    return Score(
        count, {name: float(one[name][0]) for name in METRICS}, {name: ends(values) for name, values in spread.items()}
    )


def squared_error(probability: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the Brier score of each answer, (p − 1)² where it is right and p² where it is wrong.

    right · (p − 1)² + (1 − right) · p², all of one shape, in [0, 1]: an answer that k values share is right by 1/k, which is
    how often one of them drawn at random would be.

    >>> squared_error(np.array([0.9, 0.5]), np.array([1.0, 0.5])).round(3).tolist()
    [0.01, 0.25]
    """
    error: NDArray[np.float64] = (probability - right) ** 2 + right * (1.0 - right)
    return error


def metrics(
    probability: NDArray[np.float64], right: NDArray[np.bool_] | NDArray[np.float64], weight: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """Return every metric under each row of weights, shape (resamples, objects).

    `right` is 1, 0, or 1/k of an answer that k values share: it counts as right by so much, and as wrong by the rest.

    accuracy = mean right; brier = mean (p − right)²; log_loss = −mean log p(what happened), p clipped to [1e-6, 1 − 1e-6];
    ece = Σ over 15 equal bins of |Σ (right − p)| / n; auc = P(p of a right answer > p of a wrong one), ties half.

    >>> result = metrics(np.array([0.9, 0.8, 0.3]), np.array([True, True, False]), np.ones((1, 3)))
    >>> float(result["auc"][0]), round(float(result["accuracy"][0]), 3), round(float(result["brier"][0]), 4)
    (1.0, 0.667, 0.0467)
    """
    hit = right.astype(np.float64)
    total = weight.sum(axis=1)
    clipped = np.clip(probability, CLIPPED, 1.0 - CLIPPED)
    surprise = -hit * np.log(clipped) - (1.0 - hit) * np.log(1.0 - clipped)
    place = np.minimum((probability * BINS).astype(np.int64), BINS - 1)
    gaps = weight @ (np.eye(BINS)[place] * (hit - probability)[:, None])
    return {
        "accuracy": weight @ hit / total,
        "auc": _auc(probability, hit, weight),
        "brier": weight @ squared_error(probability, hit) / total,
        "log_loss": weight @ surprise / total,
        "ece": np.abs(gaps).sum(axis=1) / total,
    }


def _auc(probability: NDArray[np.float64], right: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the area under the ROC curve; NaN where all answers are right or all wrong."""
    order = np.argsort(probability, kind="stable")
    begins = np.unique(probability[order], return_index=True)[1]
    good, bad = (np.add.reduceat((weight * of)[:, order], begins, axis=1) for of in (right, 1.0 - right))
    below = np.cumsum(bad, axis=1) - bad
    pairs = good.sum(axis=1) * bad.sum(axis=1)
    wins = (good * (below + 0.5 * bad)).sum(axis=1)
    return ratio(wins, pairs)
