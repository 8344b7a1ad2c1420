"""The standstills of a loop as its challenge ceiling grows, each found from those before it."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from malsim.lab.stability.fixed_point import fixed_point, mixed, polished
from malsim.lab.stability.loop import LARGE
from malsim.lab.stability.spectrum import COARSE, Spectrum, spectrum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.lab.stability.loop import Array, Loop

__all__ = ["Own", "Path", "Point"]

Entry = TypeVar("Entry", bound=np.generic)
NEAR, WORK = 1e-5, 200_000
ROUGH, SHARP, FINE, MOST = 3e-2, 1e-3, 5e-7, 100
LOST, MANY = 1.02, 255


class Point(NamedTuple):
    """A challenge ceiling, the standstill there, and the spectral radius of the tick at it."""

    ceiling: float
    worth: Array
    radius: float


class Own(NamedTuple):
    """The standstill at the loop's own ceilings, what it leaves of |f(e) − e|, and the eigenvalues there."""

    worth: Array
    gap: float
    spectrum: Spectrum


class Path:
    """The points of a loop found so far.

    A loop of more than 10,000 cells is followed in single precision, and its cells then go by how many edges they hear: a
    product is up to three times as fast where the processor foresees the end of each row.
    """

    def __init__(self, loop: Loop) -> None:
        self.loop, self.large = loop, len(loop.start) > LARGE
        self.points: dict[float, Point] = {}

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """The loop's cells in the order in which they are followed."""
        if not self.large:
            return np.arange(len(self.loop.start))
        up, down = (np.minimum(np.diff(each.indptr), MANY) for each in (self.loop.support, self.loop.challenge))
        return np.argsort((up * (MANY + 1) + down).astype(np.uint16), kind="stable")

    @cached_property
    def followed(self) -> Loop:
        """The loop as it is followed."""
        return self.loop.arranged(self.order, np.float32) if self.large else self.loop

    def at(self, ceiling: float, *, sharp: bool = True) -> Point:
        """The point at a ceiling, from the two nearest ones that are not lost.

        Where not `sharp`, the radius of a large loop is good to about 5 %: its soft modes are still on the way.
        """
        there, start = replace(self.followed, challenge_ceiling=ceiling), self._guess(ceiling)
        if self.large:
            worth = mixed(there, start, near=SHARP if sharp else ROUGH, most=MOST)
        else:
            worth, _ = polished(there, *fixed_point(there, start, near=NEAR, least=15, work=WORK))
        radius = spectrum(there.jacobian(worth), there.damping, tolerance=COARSE).radius
        self.points[ceiling] = Point(ceiling, worth, radius)
        return self.points[ceiling]

    @cached_property
    def own(self) -> Own:
        """What is found at the loop's own ceiling, in full, from the nearest points that are not lost."""
        ceiling = float(self.loop.challenge_ceiling)
        near = self._guess(ceiling)
        if self.large:
            near = mixed(self.followed, near, near=FINE, most=MOST)
        worth, gap = polished(self.loop, *fixed_point(self.loop, self._restored(near.astype(np.float64))))
        near = worth[self.order].astype(near.dtype)
        there = spectrum(self.followed.jacobian(near), self.loop.damping)
        self.points[ceiling] = Point(ceiling, near, there.radius)
        return Own(worth, gap, Spectrum(self._restored(there.part), there.value, self._restored(there.vector)))

    def held(self, ceiling: float) -> bool:
        """Whether the clamp holds a cell, 0 or 1, in the standstill nearest to a ceiling."""
        known = self.nearest(ceiling)
        worth = known[0].worth if known else self.followed.start
        return bool((self.followed.active & ((worth <= 0.0) | (worth >= 1.0))).any())

    def nearest(self, ceiling: float) -> list[Point]:
        """The points whose standstill is not lost, or only just: those nearest to a ceiling first."""
        kept = [point for point in self.points.values() if point.radius < LOST]
        return sorted(kept, key=lambda point: abs(point.ceiling - ceiling))

    def _guess(self, ceiling: float) -> Array:
        known = self.nearest(ceiling)[:2]
        if len(known) <= 1:
            return known[0].worth if known else self.followed.start
        one, two = known
        share = (ceiling - one.ceiling) / (two.ceiling - one.ceiling)
        ahead: Array = np.clip(one.worth + share * (two.worth - one.worth), 0.0, 1.0)
        return ahead

    def _restored(self, followed: NDArray[Entry]) -> NDArray[Entry]:
        own = np.empty_like(followed)
        own[self.order] = followed
        return own
