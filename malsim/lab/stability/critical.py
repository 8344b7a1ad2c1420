"""How far the challenge ceiling may rise before the loop loses its standstill."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.lab.stability.path import Point

if TYPE_CHECKING:
    from malsim.lab.stability.loop import Loop
    from malsim.lab.stability.path import Path

__all__ = ["HIGHEST", "critical", "norm_bound"]

HIGHEST = 2.0
STEPS = 40
LEAPS, STRIDES, HALF, NEARBY, WIDE = (3.0, 1.6), (1.3, 1.1), 0.5, 0.1, 1.4
LOW, UNDER = 0.05, 0.9
LAST = 2.0
POWER = 8


def critical(path: Path) -> float | None:
    """The least challenge ceiling at which the spectral radius reaches 1.

    None where it never does up to a ceiling of 2 (rules allow 1), or where the formula has no ceiling. The standstill is
    followed from a ceiling at which it is the only one, the loop's own if that will do. Steps go by b ← b / ρ(b), exact
    while the standstill does not move, until they straddle 1; then by regula falsi (Illinois), to 10⁻⁶ of ρ, on more than
    10,000 cells to 0.5 % of a ρ that is itself found to about 1 %. The last step, from a ρ within twice that, is not looked
    at: it keeps the bound where the slope is within 0.5 and 1.5 of the chord's.
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


def _first(path: Path) -> Point:
    safe, present = _safe(path.followed), float(path.loop.challenge_ceiling)
    if HALF * safe <= present <= UNDER * safe and present > 0.0:
        return Point(present, path.own.worth, path.own.spectrum.radius)
    return path.at(UNDER * safe, sharp=False)


def _ahead(path: Path, here: Point) -> float:
    """Where ρ would be 1 if it grew in proportion; not too far ahead, as it may grow faster, and drop as cells clamp."""
    far, nearby = LEAPS if path.large else STRIDES
    factor = min(1.0 / max(here.radius, 1e-9), far if here.radius < HALF else nearby)
    return min(here.ceiling * max(factor, 1.0 + _close(path)) or LOW, HIGHEST)


def norm_bound(loop: Loop) -> float:
    """A bound that needs no fixed point: ‖a S + b C‖∞; below 1 the tick is a contraction, and settles from anywhere.

    The largest sum, over a cell's incoming edges, of weight × ceiling. With a formula of your own there is no such bound
    (nan).
    """
    if loop.formula is not None:
        return np.nan
    if loop.from_stated:
        return 0.0
    up, down = loop.masses(np.ones_like(loop.start))
    return float(np.max(np.where(loop.active, loop.support_ceiling * up + loop.challenge_ceiling * down, 0.0), initial=0.0))


def _close(path: Path) -> float:
    return 5e-3 if path.large else 1e-6


def _safe(loop: Loop) -> float:
    """The ceiling b with ρ(a S + b C) = 1, about: below it the tick is a contraction in some norm, with one standstill.

    No slope of tanh passes 1, so |∂f/∂e| ≤ a S + b C =: M. Powers of M, with the b of each such that it keeps the sum of all
    entries; each averaged with the last, lest they swing. 0 where supports alone pass 1: at a ceiling of 0 the tick is
    monotone and concave, so that there too its standstill is the only one above 0.
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


def _between(path: Path, low: Point, high: Point) -> float:
    """Regula falsi between two ceilings, the standing end's value halved so that both ends move (Illinois).

    While they are far apart the geometric mean: another standstill may be found where the lower one is not followed closely.
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
