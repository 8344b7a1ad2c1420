"""Laws of survival, their maximum-likelihood parameters, and profile-likelihood intervals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.lab.decay.log import Log

    Part: TypeAlias = Callable[[NDArray[np.float64], float, float], NDArray[np.float64]]

Array: TypeAlias = NDArray[np.float64]
WIDE, STEEPEST, MOST_FLOOR = 9.0, 7.0, 0.999
TINY, LARGEST = 1e-300, 600.0
CHI_SQUARE = 3.841458820694124  # 95 % of a χ² of one degree of freedom
CLOSE = 1e-5
EDGE = 0.05
FIRST_STEP = 0.02


@dataclass(frozen=True, kw_only=True)
class Law:
    """A law of survival S with a time constant (days) and a second parameter: log S(t), log −S'(t), and the bounds.

    Both functions take times above 0, shape (n,), log τ, and the second parameter: the floor itself, or log k.
    """

    name: str
    second: str
    low: float
    high: float
    log_survival: Part
    log_density: Part
    logarithmic: bool

    def outer(self, inner: float) -> float:
        return float(np.exp(inner)) if self.logarithmic else inner


def _exponential(t: Array, log_tau: float, floor: float) -> Array:
    """Return the logarithm of floor + (1 − floor) e^(−t/τ)."""
    logarithm: Array = np.log(floor + (1.0 - floor) * np.exp(-t * np.exp(-log_tau)) + TINY)
    return logarithm


def _exponential_density(t: Array, log_tau: float, floor: float) -> Array:
    """Return the logarithm of (1 − floor)/τ e^(−t/τ)."""
    logarithm: Array = np.log1p(-floor) - log_tau - t * np.exp(-log_tau)
    return logarithm


def _weibull(t: Array, log_tau: float, log_k: float) -> Array:
    """Return the logarithm of e^(−(t/τ)^k)."""
    logarithm: Array = -np.exp(np.minimum(np.exp(log_k) * (np.log(np.maximum(t, TINY)) - log_tau), LARGEST))
    return logarithm


def _weibull_density(t: Array, log_tau: float, log_k: float) -> Array:
    """Return the logarithm of k/τ (t/τ)^(k−1) e^(−(t/τ)^k)."""
    scaled = np.log(np.maximum(t, TINY)) - log_tau
    logarithm: Array = log_k - log_tau + (np.exp(log_k) - 1.0) * scaled + _weibull(t, log_tau, log_k)
    return logarithm


EXPONENTIAL = Law(
    name="exponential", second="floor", low=0.0, high=MOST_FLOOR,
    log_survival=_exponential, log_density=_exponential_density, logarithmic=False,
)  # fmt: skip
WEIBULL = Law(
    name="weibull", second="k", low=-STEEPEST, high=STEEPEST,
    log_survival=_weibull, log_density=_weibull_density, logarithmic=True,
)  # fmt: skip


@dataclass(frozen=True)
class Likelihood:
    """Likelihood of lifetimes under a law of survival S, with a fixed floor if given.

    The log-likelihood is Σ log −S'(a) over ends seen at age a, + Σ log(S(a) − S(b)) over ends between ages a and b,
    + Σ log S(a) over lifetimes still standing, − Σ log S(e) over all, where e is the age at the first sighting.
    """

    law: Law
    log: Log
    floor: float | None = None

    @classmethod
    def of(cls, law: Law, log: Log, floor: float | None = None) -> Likelihood:
        """Return the likelihood of lifetimes; only the exponential law takes a floor."""
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
        """Ages at exact ends; lower and upper ages of interval-censored ends; ages still standing; ages at sighting."""
        log, exact = self.log, self.log.after == self.log.before
        between = log.ended & ~exact
        return log.after[exact], log.after[between], log.before[between], log.after[~log.ended], log.entered[log.entered > 0]

    def loss(self, point: Array) -> float:
        """Compute minus the log-likelihood at (log τ, second).

        >>> from malsim.lab.decay.log import Log
        >>> some = Log(np.array([1.0, 3.0, 4.0]), np.array([1.0, 3.0, np.inf]), np.zeros(3))
        >>> round(Likelihood(EXPONENTIAL, some).loss(np.array([np.log(4.0), 0.0])), 6)
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
        """Return one end of the interval: double the step until the loss exceeds `allowed`, then bisect."""
        limit = self.bounds[place][int(sign > 0.0)]
        inside, step = float(best[place]), FIRST_STEP
        while True:
            further = sign * min(sign * inside + step, sign * limit)
            if self._profile(place, further)[0] > allowed:
                break
            if further == limit:
                return limit if self._has_natural_bound(1 - place) else sign * np.inf
            inside, step = further, 2.0 * step
        end = float(brentq(lambda v: self._profile(place, v)[0] - allowed, inside, further, xtol=1e-4))
        return sign * np.inf if self._runs_away(1 - place, self._profile(place, end)[1]) else end

    def _has_natural_bound(self, other: int) -> bool:
        """Return whether the bound belongs to the parameter (a floor is 0 to 1), and is not just the end of the search."""
        return other == 0 and not self.law.logarithmic

    def _runs_away(self, place: int, value: float) -> bool:
        """Return whether a parameter lies at the end of its search range, so that the data do not bound the other."""
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
