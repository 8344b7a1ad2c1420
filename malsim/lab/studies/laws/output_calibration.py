"""One calibration of what laws say, learnt on half of the objects and used on the other: is a law better or only surer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy.optimize import isotonic_regression

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Array

__all__ = ["calibrate"]


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
    level = np.empty(len(probability))
    for part in (first, ~first):
        level[part] = _fitted(probability[~part], right[~part], probability[part])
    return answers.with_columns(probability=pl.Series(level))


def _fitted(x: Array, y: Array, at: Array) -> Array:
    """The isotonic regression of y on x, at other places."""
    points, place, count = np.unique(x, return_inverse=True, return_counts=True)
    means = np.bincount(place, weights=y) / count
    return np.interp(at, points, isotonic_regression(means, weights=count.astype(np.float64)).x)
