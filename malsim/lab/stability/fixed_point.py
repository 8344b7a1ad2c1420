"""Computation of the loop's fixed points, including those at which ticks do not settle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from malsim.lab.stability.loop import LARGE, along

if TYPE_CHECKING:
    from malsim.lab.stability.loop import Array, TickLoop

EXACT = 1e-12
NEAR = 1e-6
SHRINK, GROW, MOST, REVERSAL = 0.5, 1.1, 1.5, 0.4
STEPS, MOST_STEPS = 60, 4_000
WORK = 6_000_000
NEWTON, HALVINGS = 20, 7
TICKS = 2_000
WITHIN = 1e-3
LARGEST_SOLVED = 3_000
SHARE, DEPTH, ALIKE = 0.7, 2, 1e-5


def fixed_point(
    loop: TickLoop, start: Array | None = None, *, near: float = NEAR, least: int = STEPS, work: int = WORK
) -> tuple[Array, float]:
    """Find a fixed point e = f(e) to within the tolerance `near`; return it with its residual max |f(e) − e|.

    Each cell moves part of the way, e += share / (1 + row sum of |∂f/∂e|) · (f(e) − e). A cell's share grows while the cell
    keeps its direction and shrinks when it reverses, so that it comes to rest even where ticks oscillate. A fixed point
    always exists (f is continuous on a cube); if there are several, the result is the one reached from `start` (by default
    stated · factor), per column of `start`. The limit on steps is about `work` / cells, from `least` to 4,000.
    """
    worth = (loop.start if start is None else start).copy()
    sums = [along(matrix @ np.ones(len(worth)), worth) for matrix in (loop.support, loop.challenge)]
    share, last = np.ones_like(worth), np.zeros_like(worth)
    gap = 0.0
    for _ in range(min(max(work // max(len(worth), 1) - STEPS, least), MOST_STEPS)):
        fresh, up, down = loop.slopes(worth)
        move = fresh - worth
        gap = float(np.abs(move).max(initial=0.0))
        if gap <= near:
            break
        share = np.where(move * last < -REVERSAL * last**2, SHRINK * share, np.minimum(GROW * share, MOST))
        worth = np.clip(worth + share / (1.0 + np.abs(up) * sums[0] + np.abs(down) * sums[1]) * move, 0.0, 1.0)
        last = move
    return worth, gap


def anderson(loop: TickLoop, worth: Array, *, near: float, most: int) -> Array:
    """Run Anderson mixing until |f(e) − e| ≤ `near` in every cell, but at most `most` steps; return the last f(e).

    Anderson mixing: the combination of the last three points with the smallest move, plus 0.7 of that move. This converges
    for soft modes (λ near 1), where cell-by-cell steps are slow, but only if few modes oscillate. Source: Walker and Ni
    (2011).
    """
    steps: list[Array] = []
    changes: list[Array] = []
    before = last = worth
    for number in range(most):
        fresh = loop.step(worth)
        move = fresh - worth
        if number == most - 1 or max(move.max(), -move.min()) <= near:
            return fresh
        ahead = worth + SHARE * move
        if number:
            steps, changes = [*steps, ahead - before][-DEPTH:], [*changes, move - last][-DEPTH:]
        before, last, worth = ahead, move, ahead.copy()
        if changes:
            products = [[np.einsum("i,i->", change, other) for other in changes] for change in changes]
            against = [np.einsum("i,i->", change, move) for change in changes]
            for share, step in zip(np.linalg.lstsq(products, against, rcond=ALIKE)[0].tolist(), steps, strict=True):
                worth -= share * step
        np.clip(worth, 0.0, 1.0, out=worth)
    return worth


def any_fixed_point(
    loop: TickLoop, start: Array, *, near: float = NEAR, least: int = STEPS, work: int = WORK, by_ticks: bool = False
) -> tuple[Array, float]:
    """Find a fixed point by trying several methods in turn; return it with its residual max |f(e) − e|.

    With `by_ticks`, plain ticks from the loop's own start are tried first, to find the point that a run reaches. Next come
    `fixed_point` from `start` with damped Newton steps, and ticks from there.
    """
    if by_ticks and (rest := _rest(loop, loop.start)) is not None:
        return polished(loop, *rest)
    worth, gap = polished(loop, *fixed_point(loop, start, near=near, least=least, work=work))
    if gap > WITHIN and len(worth) <= LARGE and (rest := _rest(loop, worth)) is not None:
        return polished(loop, *rest)
    return worth, gap


def _rest(loop: TickLoop, worth: Array) -> tuple[Array, float] | None:
    """Return the fixed point that plain ticks reach (to 1e-6) and its residual, or None if 2,000 ticks do not suffice."""
    for _ in range(TICKS):
        fresh = loop.tick(worth)
        gap = float(np.abs(fresh - worth).max(initial=0.0))
        worth = fresh
        if gap <= NEAR * loop.damping:
            return worth, _residual(loop, worth)
    return None


def polished(loop: TickLoop, worth: Array, gap: float) -> tuple[Array, float]:
    """Refine a fixed point by Newton's method on e − f(e), unless there are over 10,000 cells or a loop is too large.

    A step that does not reduce the largest |f(e) − e| is halved, up to six times (damped Newton).
    """
    for _ in range(NEWTON if len(worth) <= LARGE else 0):
        step = None if gap <= EXACT else _newton_step(loop, worth, loop.step(worth) - worth)
        if step is None:
            break
        points = (np.clip(worth + step / 2**number, 0.0, 1.0) for number in range(HALVINGS))
        better = next(((point, residual) for point in points if (residual := _residual(loop, point)) < gap), None)
        if better is None:
            break
        worth, gap = better
    return worth, gap


def _residual(loop: TickLoop, worth: Array) -> float:
    return float(np.abs(loop.step(worth) - worth).max(initial=0.0))


def _newton_step(loop: TickLoop, worth: Array, move: Array) -> Array | None:
    """Return the Newton step d with (I − J) d = f(e) − e; None if a loop is too large or the matrix is singular.

    Ordered by strongly connected parts, the matrix is block triangular, so elimination causes fill-in only within blocks.
    """
    slope = loop.jacobian(worth)
    _, part = sparse.csgraph.connected_components(slope, connection="strong")
    if np.bincount(part).max() > LARGEST_SOLVED:
        return None
    order = np.argsort(part, kind="stable")
    matrix = sparse.csc_array(sparse.csc_array(sparse.eye_array(len(worth)) - slope)[order][:, order])
    step = np.empty_like(worth)
    try:
        step[order] = splu(matrix, permc_spec="NATURAL", diag_pivot_thresh=0.01).solve(move[order])
    except RuntimeError:  # the matrix is exactly singular, so the fixed point is about to vanish
        return None
    return step
