"""The most likely parameters of a law of survival, and how far each may move before the data object."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from malsim.lab.decay.laws import TINY, WIDE

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.lab.decay.laws import Array, Law
    from malsim.lab.decay.log import Log

CHI_SQUARE = 3.841458820694124  # 95 % of a χ² of one degree of freedom
CLOSE = 1e-5
EDGE = 0.05
FIRST_STEP = 0.02


@dataclass(frozen=True)
class Likelihood:
    """Lifetimes under a law of survival S, of a fixed floor if one is given.

    Σ over deaths seen log −S'(a) + Σ over deaths between a and b log(S(a) − S(b)) + Σ over those still standing log S(a)
    − Σ over all log S(e), as a lifetime that came in sight at the age e had not ended before.
    """

    law: Law
    log: Log
    floor: float | None = None

    @classmethod
    def of(cls, law: Law, log: Log, floor: float | None = None) -> Likelihood:
        """Return the likelihood of some lifetimes; a floor binds the exponential law only."""
        return cls(law, log, None if law.logarithmic else floor)

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Search bounds of log τ and the second parameter: log τ within ±9 of log(exposure / events)."""
        exposure = self.log.duration.sum() - self.log.entered.sum()
        middle = float(np.log(exposure / max(int(self.log.ended.sum()), 1)))
        second = (self.law.low, self.law.high) if self.floor is None else (self.floor, self.floor)
        return [(middle - WIDE, middle + WIDE), second]

    @cached_property
    def _parts(self) -> tuple[Array, Array, Array, Array, Array]:
        """Ages at death; ages between which death lay; ages of those that stand; ages at which lifetimes came in sight."""
        log, exact = self.log, self.log.after == self.log.before
        between = log.ended & ~exact
        return log.after[exact], log.after[between], log.before[between], log.after[~log.ended], log.entered[log.entered > 0]

    def loss(self, point: Array) -> float:
        """Minus the log-likelihood at (log τ, second).

        >>> from malsim.lab.decay.laws import LAWS
        >>> from malsim.lab.decay.log import Log
        >>> some = Log(np.array([1.0, 3.0, 4.0]), np.array([1.0, 3.0, np.inf]), np.zeros(3))
        >>> round(Likelihood(LAWS["exponential"], some).loss(np.array([np.log(4.0), 0.0])), 6)
        4.772589
        """
        log_tau, inner = float(point[0]), float(point[1])
        survival = self.law.log_survival
        dead, last, first, standing, sighted = self._parts
        total = survival(standing, log_tau, inner).sum() - survival(sighted, log_tau, inner).sum()
        total += self.law.log_density(dead, log_tau, inner).sum()
        at_last = survival(last, log_tau, inner)
        fall = -np.expm1(survival(first, log_tau, inner) - at_last)
        return -float(total + (at_last + np.log(np.maximum(fall, TINY))).sum())

    def best(self) -> Array:
        """Return the most likely (log τ, second)."""
        best = _least(lambda second: self._profile(1, second)[0], self.bounds[1])
        return np.array([self._profile(1, best)[1], best])

    def interval(self, best: Array, place: int) -> tuple[float, float]:
        """Return the 95 % profile-likelihood interval of one parameter; an end that the data leave open is infinite.

        All values v with 2 (ℓ(best) − max over the other of ℓ(v, ·)) ≤ 3.84.
        """
        low, high = self.bounds[place]
        if low == high:
            return low, low
        allowed = self.loss(best) + CHI_SQUARE / 2.0
        return self._end(best, place, -1.0, allowed), self._end(best, place, 1.0, allowed)

    def _end(self, best: Array, place: int, sign: float, allowed: float) -> float:
        """Step away from the best, twice as far each time, until the loss is passed; then bisect."""
        limit = self.bounds[place][int(sign > 0.0)]
        inside, step = float(best[place]), FIRST_STEP
        while True:
            further = sign * min(sign * inside + step, sign * limit)
            if self._profile(place, further)[0] > allowed:
                break
            if further == limit:
                return limit if self._own(1 - place) else sign * np.inf
            inside, step = further, 2.0 * step
        end = float(brentq(lambda v: self._profile(place, v)[0] - allowed, inside, further, xtol=1e-4))
        return sign * np.inf if self._runs_away(1 - place, self._profile(place, end)[1]) else end

    def _own(self, other: int) -> bool:
        """Return True if the bound is the parameter's own (a floor is 0 to 1), not just the end of the search."""
        return other == 0 and not self.law.logarithmic

    def _runs_away(self, place: int, value: float) -> bool:
        """Return True if a parameter lies at the end of the search range, so that the data do not bound the other."""
        if place == 1 and not self.law.logarithmic:
            return False
        return min(abs(value - limit) for limit in self.bounds[place]) < EDGE

    def _profile(self, place: int, value: float) -> tuple[float, float]:

        def at(other: float) -> float:
            return self.loss(np.array([value, other] if place == 0 else [other, value]))

        other = _least(at, self.bounds[1 - place])
        return at(other), other


def _least(loss: Callable[[float], float], bounds: tuple[float, float]) -> float:
    """Return the minimiser of a unimodal loss within its bounds, the bounds included."""
    low, high = bounds
    if low == high:
        return low
    inner = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": CLOSE})
    return min((float(inner.x), low, high), key=loss)
