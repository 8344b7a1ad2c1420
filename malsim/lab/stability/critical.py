"""Computation of the critical challenge ceiling, at which the fixed point of the loop becomes unstable."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from malsim.lab.stability.fixed_point import anderson, any_fixed_point
from malsim.lab.stability.loop import LARGE
from malsim.lab.stability.spectrum import COARSE, Spectrum, spectrum

if TYPE_CHECKING:
    from malsim.lab.stability.loop import Array, TickLoop

HIGHEST = 2.0
STEPS = 40
LEAPS, STRIDES, HALF, NEARBY, WIDE = (3.0, 1.6), (1.3, 1.1), 0.5, 0.1, 1.4
LOW, UNDER = 0.05, 0.9
LAST = 2.0
POWER = 8
NEAR, WORK = 1e-5, 200_000
ROUGH, SHARP, FINE, MOST = 3e-2, 1e-3, 5e-7, 100
LOST = 1.02


class CeilingPoint(NamedTuple):
    """Challenge ceiling with its fixed point and the spectral radius of the tick at that point."""

    ceiling: float
    worth: Array
    radius: float


class FixedPoint(NamedTuple):
    """Fixed point at the loop's own ceilings, with its residual max |f(e) − e| and its spectrum."""

    worth: Array
    gap: float
    spectrum: Spectrum


class Continuation:
    """Cache of the fixed points found so far for a loop, keyed by challenge ceiling."""

    def __init__(self, loop: TickLoop) -> None:
        self.loop, self.large = loop, len(loop.start) > LARGE
        self.points: dict[float, CeilingPoint] = {}

    def at(self, ceiling: float, *, sharp: bool = True) -> CeilingPoint:
        """Compute the fixed point at a ceiling, starting from the two nearest stable fixed points.

        Unless `sharp`, the radius of a large loop is accurate only to about 5 %, because its slow modes have not converged.
        """
        loop, start = replace(self.loop, challenge_ceiling=ceiling), self._guess(ceiling)
        if self.large:
            worth = anderson(loop, start, near=SHARP if sharp else ROUGH, most=MOST)
        else:
            worth, _ = any_fixed_point(loop, start, near=NEAR, least=15, work=WORK)
        radius = spectrum(loop.jacobian(worth), loop.damping, tolerance=COARSE).radius
        self.points[ceiling] = CeilingPoint(ceiling, worth, radius)
        return self.points[ceiling]

    @cached_property
    def own(self) -> FixedPoint:
        """Fixed point at the loop's own ceiling, computed from the nearest stable fixed points."""
        ceiling = float(self.loop.challenge_ceiling)
        start = self._guess(ceiling)
        if self.large:
            start = anderson(self.loop, start, near=FINE, most=MOST)
        worth, gap = any_fixed_point(self.loop, start, by_ticks=not self.large)
        modes = spectrum(self.loop.jacobian(worth), self.loop.damping)
        self.points[ceiling] = CeilingPoint(ceiling, worth, modes.radius)
        return FixedPoint(worth, gap, modes)

    def _guess(self, ceiling: float) -> Array:
        """Extrapolate the fixed point at a ceiling from the two nearest points whose spectral radius is below 1.02."""
        stable = [point for point in self.points.values() if point.radius < LOST]
        nearest = sorted(stable, key=lambda point: abs(point.ceiling - ceiling))[:2]
        if len(nearest) <= 1:
            return nearest[0].worth if nearest else self.loop.start
        first, second = nearest
        share = (ceiling - first.ceiling) / (second.ceiling - first.ceiling)
        guess: Array = np.clip(first.worth + share * (second.worth - first.worth), 0.0, 1.0)
        return guess


def critical(path: Continuation) -> float | None:
    """Return the lowest challenge ceiling at which the spectral radius ρ of the tick reaches 1.

    The result is None if ρ stays below 1 up to a ceiling of 2 (rules allow 1), or if there is no ceiling to vary. The fixed
    point is followed from a ceiling at which it is unique. Steps b ← b / ρ(b), exact while the fixed point does not move,
    are repeated until ρ exceeds 1. Regula falsi (Illinois) then finds ρ = 1 to 10⁻⁶, or to 0.5 % for more than 10,000
    cells, where ρ itself is known to about 1 %. The last step is not evaluated if ρ is within twice the tolerance: it stays
    within the tolerance if the slope is 0.5 to 1.5 times that of the chord.
    """
    loop, close = path.loop, _tolerance(path)
    if loop.formula is not None or loop.from_stated or loop.challenge.nnz == 0:
        return None
    safe, present = _safe_ceiling(loop), float(loop.challenge_ceiling)
    if HALF * safe <= present <= UNDER * safe and present > 0.0:
        here = below = CeilingPoint(present, path.own.worth, path.own.spectrum.radius)
    else:
        here = below = path.at(UNDER * safe, sharp=False)
    if here.ceiling == 0.0 and here.radius >= 1.0:
        return 0.0
    far, nearby = LEAPS if path.large else STRIDES
    while here.radius < 1.0 - close:
        if here.ceiling >= HIGHEST:
            return None
        # Limit the step, because ρ may grow faster than the ceiling, or may drop.
        factor = min(1.0 / max(here.radius, 1e-9), far if here.radius < HALF else nearby)
        ceiling = min(here.ceiling * max(factor, 1.0 + close) or LOW, HIGHEST)
        below, here = here, path.at(ceiling, sharp=here.radius >= HALF)
        if path.large and below.radius < HALF and abs(here.radius - 1.0) < NEARBY:
            here = path.at(here.ceiling)
    return here.ceiling if here.radius <= 1.0 + close else _between(path, below, here)


def norm_bound(loop: TickLoop) -> float:
    """Return ‖a S + b C‖∞, the largest sum of ceiling × weight over a cell's incoming edges; NaN for a custom formula.

    If the norm is below 1, the tick is a contraction and settles from any start.
    """
    if loop.formula is not None:
        return np.nan
    if loop.from_stated:
        return 0.0
    up, down = loop.masses(np.ones_like(loop.start))
    return float(np.max(np.where(loop.active, loop.support_ceiling * up + loop.challenge_ceiling * down, 0.0), initial=0.0))


def _tolerance(path: Continuation) -> float:
    return 5e-3 if path.large else 1e-6


def _safe_ceiling(loop: TickLoop) -> float:
    """Return the ceiling b at which ρ(a S + b C) ≈ 1. Below it the tick is a contraction with a unique fixed point.

    The slope of tanh is at most 1, so |∂f/∂e| ≤ a S + b C =: M. Power iteration on M, with b set in each step so that the
    sum of all entries is kept; each iterate is averaged with the last to damp oscillation. The result is 0 if the supports
    alone exceed 1: at a ceiling of 0 the tick is monotone and concave, so its fixed point above 0 is unique there too.
    """
    ceiling, weight = HIGHEST, np.ones_like(loop.start)
    for _ in range(POWER):
        up, down = loop.masses(weight)
        up = loop.support_ceiling * up
        room, load = float(weight.sum() - up.sum()), float(down.sum())
        ceiling = min(max(room, 0.0) / load, HIGHEST) if load > 0.0 else HIGHEST
        weight = weight + up + ceiling * down
        weight /= weight.max()
    return ceiling


def _between(path: Continuation, low: CeilingPoint, high: CeilingPoint) -> float:
    """Find the ceiling at which ρ = 1 between `low` and `high` by regula falsi with the Illinois modification.

    While the ends are far apart, their geometric mean is used, because a long step may reach another fixed point.
    """
    left, right, side, close = low.radius - 1.0, high.radius - 1.0, 0, _tolerance(path)
    ceiling = high.ceiling
    for _ in range(STEPS):
        if high.ceiling - low.ceiling <= close * ceiling:
            break
        wide = high.ceiling > WIDE * low.ceiling > 0.0
        ceiling = (
            np.sqrt(low.ceiling * high.ceiling) if wide else (low.ceiling * right - high.ceiling * left) / (right - left)
        )
        if not wide and min(1.0 - low.radius, high.radius - 1.0) <= LAST * close:
            break
        here = path.at(ceiling)
        over = here.radius - 1.0
        if abs(over) <= close:
            break
        if over < 0.0:
            right = right / 2 if side < 0 else right
            low, left, side = here, over, -1
        else:
            left = left / 2 if side > 0 else left
            high, right, side = here, over, 1
    return ceiling
