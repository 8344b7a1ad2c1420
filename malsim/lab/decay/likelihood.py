"""The most likely parameters of a law of survival, and how far each may move before the data object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from malsim.lab.decay.laws import WIDE, negative_log_likelihood

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from malsim.lab.decay.laws import Array, Law

__all__ = ["Likelihood"]

CHI_SQUARE = 3.841458820694124  # 95 % of a χ² of one degree of freedom
CLOSE = 1e-5
EDGE = 0.05
FIRST_STEP = 0.02


@dataclass(frozen=True)
class Likelihood:
    """Durations (days) under a law: those that ended, those that still stood when last seen; the floor held, if given."""

    law: Law
    ended: Array
    standing: Array
    held: float | None = None

    @classmethod
    def of(cls, law: Law, duration: Array, ended: NDArray[np.bool_], floor: float | None = None) -> Likelihood:
        """The likelihood of some durations; a floor binds the exponential law only."""
        return cls(law, duration[ended], duration[~ended], None if law.logarithmic else floor)

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Where log τ and the second parameter are looked for: log τ within ±9 of log(exposure / events)."""
        middle = float(np.log((self.ended.sum() + self.standing.sum()) / max(len(self.ended), 1)))
        second = (self.law.low, self.law.high) if self.held is None else (self.held, self.held)
        return [(middle - WIDE, middle + WIDE), second]

    def loss(self, point: Array) -> float:
        """Minus the log-likelihood at (log τ, second)."""
        return negative_log_likelihood(self.law, self.ended, self.standing, float(point[0]), float(point[1]))

    def best(self) -> Array:
        """The most likely (log τ, second)."""
        found = _least(lambda second: self._profile(1, second)[0], self.bounds[1])
        return np.array([self._profile(1, found)[1], found])

    def interval(self, best: Array, place: int) -> tuple[float, float]:
        """The 95 % profile-likelihood interval of one parameter; an end that the data leave open is infinite.

        All values v with 2 (ℓ(best) − max over the other of ℓ(v, ·)) ≤ 3.84.
        """
        low, high = self.bounds[place]
        if low == high:
            return low, low
        allowed = self.loss(best) + CHI_SQUARE / 2.0
        return self._end(best, place, -1.0, allowed), self._end(best, place, 1.0, allowed)

    def _end(self, best: Array, place: int, sign: float, allowed: float) -> float:
        """Step away from the best, twice as far each time, until the loss is passed; then bisect."""
        bound = self.bounds[place][int(sign > 0.0)]
        inside, step = float(best[place]), FIRST_STEP
        while True:
            reached = sign * min(sign * inside + step, sign * bound)
            if self._profile(place, reached)[0] > allowed:
                break
            if reached == bound:
                return bound if self._own(1 - place) else sign * np.inf
            inside, step = reached, 2.0 * step
        found = float(brentq(lambda v: self._profile(place, v)[0] - allowed, inside, reached, xtol=1e-4))
        return sign * np.inf if self._runs_away(1 - place, self._profile(place, found)[1]) else found

    def _own(self, other: int) -> bool:
        """Whether a bound is the parameter's own (a floor is 0 to 1), not just where the search ends."""
        return other == 0 and not self.law.logarithmic

    def _runs_away(self, place: int, value: float) -> bool:
        """Whether a parameter goes to where the search ends, so that the other is held by nothing but that."""
        if place == 1 and not self.law.logarithmic:
            return False
        return min(abs(value - bound) for bound in self.bounds[place]) < EDGE

    def _profile(self, place: int, value: float) -> tuple[float, float]:
        """The least loss with one parameter at a value, and the other there."""

        def at(other: float) -> float:
            return self.loss(np.array([value, other] if place == 0 else [other, value]))

        other = _least(at, self.bounds[1 - place])
        return at(other), other


def _least(loss: Callable[[float], float], bounds: tuple[float, float]) -> float:
    """Where a loss of one valley is least, its bounds themselves among what is tried."""
    low, high = bounds
    if low == high:
        return low
    found = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": CLOSE})
    return min((float(found.x), low, high), key=loss)
