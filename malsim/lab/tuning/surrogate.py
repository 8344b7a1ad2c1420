"""Quadratics through the points tried: where their least lies, near the best point or in every resample of the units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from malsim.lab.studies.measure import Array

SPARE = 2
BETTER = 0.5
LEVEL = SAME = 1e-9


def lowest(points: Array, losses: Array) -> Array | None:
    """Minimise a quadratic fitted to losses within the cube, a row per resample; return None with too few points.

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
    order = np.argsort(losses.mean(axis=0), kind="stable")[: int(np.ceil(BETTER * count))]
    if len(order) < SPARE * (size + 1) * (size + 2) / 2:
        return None
    middle = points[order[0]]
    coefficients = np.einsum("bn,pn->bp", losses[:, order], np.linalg.pinv(_terms(points[order] - middle)))
    slope, bend = _derivatives(coefficients, size)
    values, vectors = np.linalg.eigh(bend)
    along = np.einsum("bij,bi->bj", vectors, slope)
    steps = np.where(values > LEVEL, -along / np.maximum(values, LEVEL), -np.sign(along))
    least: Array = np.clip(middle + np.einsum("bij,bj->bi", vectors, steps), 0.0, 1.0)
    return least


def least_near(points: Array, worth: Array, *, radius: float, share: float) -> Array:
    """Minimise a quadratic fitted to the points nearest the best, within the cube and `radius` of the best.

    c + g·s + ½ s·H·s by least squares through `share` times as many points as it has coefficients; the shortest solution
    where there are fewer. Points without a worth (infinite) are left out.
    """
    from scipy.optimize import minimize

    best, size = int(worth.argmin()), points.shape[1]
    away = np.abs(points - points[best]).max(axis=1)
    away[~np.isfinite(worth)] = np.inf
    near = np.argsort(away, kind="stable")[: int(share * (size + 1) * (size + 2) / 2) + 1]
    near = near[np.isfinite(away[near])]
    if len(near) < 2:  # noqa: PLR2004  # no slope
        only: Array = points[best]
        return only
    scale = max(float(away[near].max()), SAME)
    steps = (points[near] - points[best]) / scale
    coefficients = np.linalg.lstsq(_terms(steps), worth[near], rcond=1e-10)[0]
    coefficients /= max(float(np.abs(coefficients[1:]).max()), np.finfo(float).tiny)
    slope, bend = _derivatives(coefficients, size)
    low, high = (np.clip((end - points[best]) / scale, -radius / scale, radius / scale) for end in (0.0, 1.0))

    def height(step: Any) -> Any:
        return slope @ step + 0.5 * step @ bend @ step, slope + bend @ step

    solve: Any = minimize
    tight = {"ftol": 1e-15, "gtol": 1e-12}
    step = solve(height, np.zeros(size), jac=True, method="L-BFGS-B", bounds=np.stack([low, high], axis=1), options=tight).x
    there: Array = np.clip(points[best] + scale * step, 0.0, 1.0)
    return there


def _terms(steps: Array) -> Array:
    """Return a row per step: 1, its coordinates, and their products."""
    upper = np.triu_indices(steps.shape[1])
    return np.concatenate([np.ones((len(steps), 1)), steps, steps[:, upper[0]] * steps[:, upper[1]]], axis=1)


def _derivatives(coefficients: Array, size: int) -> tuple[Array, Array]:
    upper = np.triu_indices(size)
    bend = np.zeros((*coefficients.shape[:-1], size, size))
    bend[..., upper[0], upper[1]] = coefficients[..., 1 + size :]
    return coefficients[..., 1 : 1 + size], bend + np.swapaxes(bend, -1, -2)
