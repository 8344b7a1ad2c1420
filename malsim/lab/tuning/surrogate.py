"""A quadratic through the points tried: where its least lies in every resample of the units."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from malsim.lab.studies.measure import Array

__all__ = ["lowest"]

SPARE = 2
KEPT = 0.5
LEVEL = 1e-9


def lowest(points: Array, losses: Array) -> Array | None:
    """Where a quadratic fitted to losses is least, within the cube, one row a resample; None with too few points.

    c + g·x + ½ x·H·x by least squares over the better half of the points (by their mean loss); its least is −H⁻¹ g, or,
    where H is not positive definite, on the cube's edge in the directions that go on falling. With fewer points than twice
    the coefficients the fit would follow chance.

    Parameters
    ----------
    points
        Shape (points, dimensions), each in [0, 1].
    losses
        Shape (resamples, points).
    """
    count, size = points.shape
    order = np.argsort(losses.mean(axis=0), kind="stable")[: int(np.ceil(KEPT * count))]
    upper = np.triu_indices(size)
    if len(order) < SPARE * (1 + size + len(upper[0])):
        return None
    middle = points[order[0]]
    away = points[order] - middle
    design = np.concatenate([np.ones((len(order), 1)), away, away[:, upper[0]] * away[:, upper[1]]], axis=1)
    found = np.einsum("bn,pn->bp", losses[:, order], np.linalg.pinv(design))
    slope, bend = found[:, 1 : 1 + size], np.zeros((len(losses), size, size))
    bend[:, upper[0], upper[1]] = found[:, 1 + size :]
    bend += bend.transpose(0, 2, 1)
    values, vectors = np.linalg.eigh(bend)
    along = np.einsum("bij,bi->bj", vectors, slope)
    steps = np.where(values > LEVEL, -along / np.maximum(values, LEVEL), -np.sign(along))
    least: Array = np.clip(middle + np.einsum("bij,bj->bi", vectors, steps), 0.0, 1.0)
    return least
