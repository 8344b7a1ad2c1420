"""The standstills of a loop as its challenge ceiling grows, each found from those before it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from malsim.lab.stability.fixed_point import fixed_point, mixed, polished
from malsim.lab.stability.loop import LARGE
from malsim.lab.stability.spectrum import COARSE, spectrum

if TYPE_CHECKING:
    from malsim.lab.stability.loop import Array, Loop

__all__ = ["Path", "Point"]

NEAR, WORK = 1e-5, 200_000
ROUGH, SHARP, MOST = 3e-4, 1e-5, 100


class Point(NamedTuple):
    """A challenge ceiling, the standstill there, and the spectral radius of the tick at it."""

    ceiling: float
    worth: Array
    radius: float


class Path:
    """The points of a loop found so far; a loop of more than 10,000 cells is followed in single precision.

    Its cells then go by how many edges they hear, support by support: see `_parts` of the spectrum.
    """

    def __init__(self, loop: Loop) -> None:
        self.large = len(loop.start) > LARGE
        self.order = np.lexsort((np.diff(loop.challenge.indptr), np.diff(loop.support.indptr)))
        self.loop = loop.arranged(self.order, np.float32) if self.large else loop
        self.points: dict[float, Point] = {}

    def at(self, ceiling: float, *, sharp: bool = True) -> Point:
        """The point at a ceiling, from the two nearest ones that are not lost.

        Where not `sharp`, the radius of a large loop is good to about 5 %: its soft modes are still on the way.
        """
        there, start = replace(self.loop, challenge_ceiling=ceiling), self._guess(ceiling)
        if self.large:
            worth = mixed(there, start, near=SHARP if sharp else ROUGH, most=MOST)
        else:
            worth, _ = polished(there, *fixed_point(there, start, near=NEAR, least=15, work=WORK))
        radius = spectrum(there.jacobian(worth), there.damping, tolerance=COARSE).radius
        self.points[ceiling] = Point(ceiling, worth, radius)
        return self.points[ceiling]

    def settled(self, ceiling: float) -> Array:
        """The standstill of the point nearest to a ceiling among those not lost, in the loop's own order."""
        known = self._nearest(ceiling)
        worth = known[0].worth if known else self.loop.start
        if not self.large:
            return worth
        own = np.empty(len(worth))
        own[self.order] = worth
        return own

    def _nearest(self, ceiling: float) -> list[Point]:
        kept = [point for point in self.points.values() if point.radius < 1.0]
        return sorted(kept, key=lambda point: abs(point.ceiling - ceiling))[:2]

    def _guess(self, ceiling: float) -> Array:
        known = self._nearest(ceiling)
        if len(known) == 1:
            return known[0].worth
        if not known:
            return self.loop.start
        one, two = known
        share = (ceiling - one.ceiling) / (two.ceiling - one.ceiling)
        ahead: Array = np.clip(one.worth + share * (two.worth - one.worth), 0.0, 1.0)
        return ahead
