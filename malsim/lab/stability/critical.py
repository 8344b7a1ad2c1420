"""Critical challenge ceiling: the fixed point is followed as the ceiling rises until it becomes unstable."""

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
    """Challenge ceiling, the fixed point at it, and the spectral radius of the tick there."""

    ceiling: float
    worth: Array
    radius: float


class FixedPoint(NamedTuple):
    """Fixed point at the loop's own ceilings, the residual max |f(e) − e|, and the spectrum there."""

    worth: Array
    gap: float
    spectrum: Spectrum


class Continuation:
    """Points of a loop found so far, by ceiling."""

    def __init__(self, loop: TickLoop) -> None:
        self.loop, self.large = loop, len(loop.start) > LARGE
        self.points: dict[float, CeilingPoint] = {}

    def at(self, ceiling: float, *, sharp: bool = True) -> CeilingPoint:
        """Compute the point at a ceiling, starting from the two nearest stable ones.

        Unless `sharp`, the radius of a large loop is accurate to about 5 %, because its slow modes have not converged.
        """
        there, start = replace(self.loop, challenge_ceiling=ceiling), self._guess(ceiling)
        if self.large:
            worth = anderson(there, start, near=SHARP if sharp else ROUGH, most=MOST)
        else:
            worth, _ = any_fixed_point(there, start, near=NEAR, least=15, work=WORK)
        radius = spectrum(there.jacobian(worth), there.damping, tolerance=COARSE).radius
        self.points[ceiling] = CeilingPoint(ceiling, worth, radius)
        return self.points[ceiling]

    @cached_property
    def own(self) -> FixedPoint:
        """The fixed point at the loop's own ceiling, computed from the nearest stable points."""
        ceiling = float(self.loop.challenge_ceiling)
        near = self._guess(ceiling)
        if self.large:
            near = anderson(self.loop, near, near=FINE, most=MOST)
        worth, gap = any_fixed_point(self.loop, near, by_ticks=not self.large)
        here = spectrum(self.loop.jacobian(worth), self.loop.damping)
        self.points[ceiling] = CeilingPoint(ceiling, worth, here.radius)
        return FixedPoint(worth, gap, here)

    def _guess(self, ceiling: float) -> Array:
        """Extrapolate the fixed point at a ceiling linearly from the two nearest points with a radius below 1.02."""
        stable = [point for point in self.points.values() if point.radius < LOST]
        nearest = sorted(stable, key=lambda point: abs(point.ceiling - ceiling))[:2]
        if len(nearest) <= 1:
            return nearest[0].worth if nearest else self.loop.start
        item, two = nearest
        share = (ceiling - item.ceiling) / (two.ceiling - item.ceiling)
        ahead: Array = np.clip(item.worth + share * (two.worth - item.worth), 0.0, 1.0)
        return ahead


def critical(path: Continuation) -> float | None:
    """Return the least challenge ceiling at which the spectral radius reaches 1.

    None where it never does up to a ceiling of 2 (rules allow 1), or where the formula has no ceiling. The fixed point is
    followed from a ceiling at which it is the only one, the loop's own if that will do. Steps go by b ← b / ρ(b), exact
    while the fixed point does not move, until they straddle 1; then by regula falsi (Illinois), to 10⁻⁶ of ρ, on more than
    10,000 cells to 0.5 % of a ρ that is itself known to about 1 %. The last step, from a ρ within twice that, is not
    evaluated: it keeps the bound where the slope is within 0.5 and 1.5 of the chord's.
    """
    loop = path.loop
    if loop.formula is not None or loop.from_stated or loop.challenge.nnz == 0:
        return None
    here = below = _first(path)
    if here.ceiling == 0.0 and here.radius >= 1.0:
        return 0.0
    while here.radius < 1.0 - _close(path):
        if here.ceiling >= HIGHEST:
            return None
        below, here = here, path.at(_ahead(path, here), sharp=here.radius >= HALF)
        if path.large and below.radius < HALF and abs(here.radius - 1.0) < NEARBY:
            here = path.at(here.ceiling)
    return here.ceiling if here.radius <= 1.0 + _close(path) else _between(path, below, here)


def _first(path: Continuation) -> CeilingPoint:
    safe, present = _safe(path.loop), float(path.loop.challenge_ceiling)
    if HALF * safe <= present <= UNDER * safe and present > 0.0:
        return CeilingPoint(present, path.own.worth, path.own.spectrum.radius)
    return path.at(UNDER * safe, sharp=False)


def _ahead(path: Continuation, here: CeilingPoint) -> float:
    """Return the ceiling at which ρ would be 1 if it grew in proportion, within limits, as ρ may grow faster or drop."""
    far, nearby = LEAPS if path.large else STRIDES
    factor = min(1.0 / max(here.radius, 1e-9), far if here.radius < HALF else nearby)
    return min(here.ceiling * max(factor, 1.0 + _close(path)) or LOW, HIGHEST)


def norm_bound(loop: TickLoop) -> float:
    """Return a bound that needs no fixed point: ‖a S + b C‖∞; below 1 the tick is a contraction and always settles.

    The largest sum, over a cell's incoming edges, of weight × ceiling. With a formula of your own there is no such bound
    (nan).
    """
    if loop.formula is not None:
        return np.nan
    if loop.from_stated:
        return 0.0
    up, down = loop.masses(np.ones_like(loop.start))
    return float(np.max(np.where(loop.active, loop.support_ceiling * up + loop.challenge_ceiling * down, 0.0), initial=0.0))


def _close(path: Continuation) -> float:
    return 5e-3 if path.large else 1e-6


def _safe(loop: TickLoop) -> float:
    """Return the ceiling b with ρ(a S + b C) ≈ 1: below it the tick is a contraction in some norm, with one fixed point.

    No slope of tanh passes 1, so |∂f/∂e| ≤ a S + b C =: M. Powers of M, with the b of each such that it keeps the sum of all
    entries; each averaged with the last, lest they swing. 0 where supports alone pass 1: at a ceiling of 0 the tick is
    monotone and concave, so that there too its fixed point is the only one above 0.
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
    """Run regula falsi between two ceilings, halving the value of an end that stays, so that both move (Illinois).

    While they are far apart the geometric mean: too long a step may reach another fixed point.
    """
    left, right, side = low.radius - 1.0, high.radius - 1.0, 0
    ceiling = high.ceiling
    for _ in range(STEPS):
        if high.ceiling - low.ceiling <= _close(path) * ceiling:
            break
        wide = high.ceiling > WIDE * low.ceiling > 0.0
        ceiling = (
            np.sqrt(low.ceiling * high.ceiling) if wide else (low.ceiling * right - high.ceiling * left) / (right - left)
        )
        if not wide and min(1.0 - low.radius, high.radius - 1.0) <= LAST * _close(path):
            break
        here = path.at(ceiling)
        over = here.radius - 1.0
        if abs(over) <= _close(path):
            break
        if over < 0.0:
            right = right / 2 if side < 0 else right
            low, left, side = here, over, -1
        else:
            left = left / 2 if side > 0 else left
            high, right, side = here, over, 1
    return ceiling
