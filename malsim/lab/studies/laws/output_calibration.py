"""One calibration of what laws say, the same for all: is a law better or only surer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy.optimize import isotonic_regression

from malsim.laws.truth.evidence import Constants, worth

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Array, Bools
    from malsim.sim.record.running_scores import FinalScores

CALIBRATIONS = ("isotonic", "divisor")


def calibrate(answers: pl.DataFrame, objects: pl.Series, *, seed: int = 0) -> pl.DataFrame:
    """Answers (right, probability; one row a question) with probabilities of an isotonic regression on the other half.

    p' = the least-squares non-decreasing function of p of how often answers of the other half's objects are right, linear
    between its points. A law without belief keeps having none. Of fewer than two objects nothing is learnt.
    """
    probability = answers["probability"].cast(pl.Float64).to_numpy()
    right, names = answers["right"].to_numpy(), objects.unique().sort()
    if np.isnan(probability).any() or len(names) < 2:  # noqa: PLR2004  # a half each
        return answers
    half = np.random.default_rng(seed).permutation(len(names))[: len(names) // 2]
    first = objects.is_in(names[half].implode()).to_numpy()
    return answers.with_columns(probability=pl.Series(_crossed(probability, right, first)))


def calibrate_scores(scores: FinalScores, *, seed: int = 0) -> FinalScores:
    """The claims at the end of a run, what they are worth calibrated the same way, on the other half of the replications."""
    if scores.effective is None or len(scores.cells) < 2:  # noqa: PLR2004  # a half each
        return scores
    half = np.zeros(len(scores.cells), dtype=bool)
    half[np.random.default_rng(seed).permutation(len(half))[: len(half) // 2]] = True
    return replace(scores, effective=_crossed(scores.effective, scores.true.astype(np.float64), half[scores.rep]))


def divide(answers: pl.DataFrame, claims: pl.DataFrame, questions: pl.DataFrame) -> pl.DataFrame:
    """Answers with probabilities p put through the divisor and floor of `records`, which has its own already.

    p' = (1 − EPS) sigmoid(logit p / (D0 + R_OUT (n_o − 1))) + EPS / K_o,  n_o and K_o the writers and values (two at least)
    that speak of the question's object before it is asked
    """
    times = questions.select("object", "asked").with_row_index("question")
    earlier = times.join(claims.select("object", "t", "writer", "value"), on="object")
    earlier = earlier.filter(pl.col("asked").is_null() | (pl.col("t") < pl.col("asked")))
    counts = earlier.group_by("question").agg(voices=pl.col("writer").n_unique(), values=pl.col("value").n_unique())
    both = times.join(counts, on="question", how="left", maintain_order="left").fill_null(1)
    voices, values = both["voices"].cast(pl.Float64).to_numpy(), np.maximum(2, both["values"].to_numpy())
    probability = answers["probability"].cast(pl.Float64).to_numpy()
    return answers.with_columns(probability=pl.Series(worth(probability, voices, values, Constants())))


def _crossed(x: Array, y: Array, first: Bools) -> Array:
    """The isotonic regression of y on x that each of two parts has from the other; as it is where that is empty."""
    level = x.copy()
    for part in (first, ~first):
        if not part.all():
            level[part] = _fitted(x[~part], y[~part], x[part])
    return level


def _fitted(x: Array, y: Array, at: Array) -> Array:
    """The isotonic regression of y on x, at other places."""
    points, place, count = np.unique(x, return_inverse=True, return_counts=True)
    means = np.bincount(place, weights=y) / count
    return np.interp(at, points, isotonic_regression(means, weights=count.astype(np.float64)).x)
