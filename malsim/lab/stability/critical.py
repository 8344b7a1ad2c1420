"""How far the challenge ceiling may rise before the loop loses its standstill."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from malsim.lab.stability.fixed_point import fixed_point, polished
from malsim.lab.stability.spectrum import spectrum

if TYPE_CHECKING:
    from malsim.lab.stability.loop import Array, Loop

__all__ = ["HIGHEST", "Point", "critical", "norm_bound"]

HIGHEST = 2.0
NEAR = 1e-5
COARSE = 1e-2
STEPS = 40
LEAPS, STRIDES, HALF = (3.0, 1.6), (1.3, 1.1), 0.5
LOW = 0.01
LARGE = 10_000
WORK = 200_000
POWER = 6


class Point(NamedTuple):
    """A challenge ceiling, the standstill there, and the spectral radius of the tick at it."""

    ceiling: float
    worth: Array
    radius: float


def critical(loop: Loop) -> tuple[float | None, Array]:
    """The least challenge ceiling at which the spectral radius reaches 1, and the last standstill found below it.

    None where it never does up to a ceiling of 2 (rules allow 1), or where the formula has no ceiling. The standstill is
    followed from a ceiling at which it is the only one. Steps go by b ← b / ρ(b), exact while the standstill does not
    move, until they straddle 1; then by regula falsi (Illinois), to 10⁻⁶ of ρ, on more than 10,000 cells to 0.5 %.
    """
    if loop.formula is not None or loop.from_stated or loop.challenge.nnz == 0:
        return None, loop.start
    low = _safe(loop)
    if low == 0.0:
        return 0.0, loop.start
    here = below = _at(loop, low, loop.start)
    while here.radius < 1.0:
        if here.ceiling >= HIGHEST:
            return None, here.worth
        ahead = _ahead(loop, here)
        slope = (here.worth - below.worth) / (here.ceiling - below.ceiling) if below is not here else np.zeros(1)
        below, here = here, _at(loop, ahead, np.clip(here.worth + slope * (ahead - here.ceiling), 0.0, 1.0))
    return _between(loop, below, here)


def _ahead(loop: Loop, here: Point) -> float:
    """Where ρ would be 1 if it grew in proportion; not too far ahead, as it may grow faster, and drop as cells clamp."""
    far, nearby = LEAPS if len(loop.start) > LARGE else STRIDES
    factor = min(1.0 / max(here.radius, 1e-9), far if here.radius < HALF else nearby)
    return min(here.ceiling * max(factor, 1.0 + _close(loop)), HIGHEST)


def norm_bound(loop: Loop) -> float:
    """A bound that needs no fixed point: ‖a S + b C‖∞; below 1 the tick is a contraction, and settles from anywhere.

    The largest sum, over a cell's incoming edges, of weight × ceiling. With a formula of your own there is no such bound
    (nan).
    """
    if loop.formula is not None:
        return np.nan
    if loop.from_stated:
        return 0.0
    up, down = (np.asarray(matrix.sum(axis=1)).ravel() for matrix in (loop.support, loop.challenge))
    return float(np.max(np.where(loop.active, loop.support_ceiling * up + loop.challenge_ceiling * down, 0.0), initial=0.0))


def _close(loop: Loop) -> float:
    return 5e-3 if len(loop.start) > LARGE else 1e-6


def _at(loop: Loop, ceiling: float, start: Array) -> Point:
    there = replace(loop, challenge_ceiling=ceiling)
    worth, gap = fixed_point(there, start, near=NEAR, least=15, work=WORK)
    if len(start) <= LARGE:
        worth, gap = polished(there, worth, gap)
    return Point(ceiling, worth, spectrum(there.jacobian(worth), loop.damping, tolerance=COARSE).radius)


def _safe(loop: Loop) -> float:
    """A ceiling b with ρ(a S + b C) ≤ 1, so that there is one standstill; 0 where no such b above 0 is in sight.

    For weights ≥ 0 and any v > 0, ρ(M) ≤ max (M v) / v (Collatz and Wielandt): M a + b M' ≤ 1 holds for
    b = min over cells of (v − a S v) / C v.
    """
    ceiling, weight = float(loop.support_ceiling), np.ones(len(loop.start))
    for _ in range(POWER):  # towards the dominant mode, where the bound is tight; never to 0
        grown = weight + ceiling * (loop.support @ weight) + loop.challenge @ weight
        weight = grown / grown.max()
    room, load = weight - ceiling * (loop.support @ weight), loop.challenge @ weight
    if (room <= 0.0).any():  # supports alone pass the bound; whether they pass 1 is seen at a ceiling of 0
        return LOW if _at(loop, 0.0, loop.start).radius < 1.0 else 0.0
    safe = np.divide(room, load, out=np.full_like(room, HIGHEST), where=load > 0.0)
    return float(min(safe.min(), HIGHEST))


def _between(loop: Loop, low: Point, high: Point) -> tuple[float, Array]:
    """Regula falsi between two ceilings, the standing end's value halved so that both ends move (Illinois)."""
    left, right, side = low.radius - 1.0, high.radius - 1.0, 0
    ceiling = high.ceiling
    for _ in range(STEPS):
        if right <= _close(loop) or high.ceiling - low.ceiling <= _close(loop) * ceiling:
            break
        ceiling = (low.ceiling * right - high.ceiling * left) / (right - left)
        share = (ceiling - low.ceiling) / (high.ceiling - low.ceiling)
        here = _at(loop, ceiling, low.worth + share * (high.worth - low.worth))
        over = here.radius - 1.0
        if abs(over) <= _close(loop):
            break
        if over < 0.0:
            right = right / 2 if side < 0 else right
            low, left, side = here, over, -1
        else:
            left = left / 2 if side > 0 else left
            high, right, side = here, over, 1
    return ceiling, low.worth
