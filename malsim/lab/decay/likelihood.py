"""Survival laws, their maximum-likelihood parameters, and profile-likelihood intervals."""

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
CHI_SQUARE = 3.841458820694124  # 95 % quantile of the χ² distribution with one degree of freedom
CLOSE = 1e-5
EDGE = 0.05
FIRST_STEP = 0.02


@dataclass(frozen=True)
class Law:
    """Survival law S with a time constant (days) and a second parameter, defined by log S(t) and log −S'(t).

    Both functions accept times above 0, shape (n,), log τ, and the second parameter: a floor or, if `logarithmic`, the
    logarithm of a shape parameter.
    """

    name: str
    bounds: tuple[float, float]
    log_survival: Part
    log_density: Part
    logarithmic: bool


def _exponential(t: Array, log_tau: float, floor: float) -> Array:
    """Return the log survival of an exponential law with a floor, log(floor + (1 − floor) e^(−t/τ))."""
    survival: Array = np.log(floor + (1.0 - floor) * np.exp(-t * np.exp(-log_tau)) + TINY)
    return survival


def _exponential_density(t: Array, log_tau: float, floor: float) -> Array:
    """Return the log density of an exponential law with a floor, log((1 − floor)/τ e^(−t/τ))."""
    density: Array = np.log1p(-floor) - log_tau - t * np.exp(-log_tau)
    return density


def _weibull(t: Array, log_tau: float, log_k: float) -> Array:
    """Return the log survival of a Weibull law, −(t/τ)^k."""
    survival: Array = -np.exp(np.minimum(np.exp(log_k) * (np.log(np.maximum(t, TINY)) - log_tau), LARGEST))
    return survival


def _weibull_density(t: Array, log_tau: float, log_k: float) -> Array:
    """Return the log density of a Weibull law, log(k/τ (t/τ)^(k−1) e^(−(t/τ)^k))."""
    scaled = np.log(np.maximum(t, TINY)) - log_tau
    density: Array = log_k - log_tau + (np.exp(log_k) - 1.0) * scaled + _weibull(t, log_tau, log_k)
    return density


EXPONENTIAL = Law("exponential", (0.0, MOST_FLOOR), _exponential, _exponential_density, logarithmic=False)
WEIBULL = Law("weibull", (-STEEPEST, STEEPEST), _weibull, _weibull_density, logarithmic=True)


@dataclass(frozen=True)
class Likelihood:
    """Likelihood of lifetimes under a survival law S. A given `floor` fixes the law's second parameter.

    The log-likelihood is Σ log −S'(a) over ends seen at age a, + Σ log(S(a) − S(b)) over ends between ages a and b,
    + Σ log S(a) over lifetimes that have not ended, − Σ log S(e) over all, where e is the age at the first sighting.
    """

    law: Law
    log: Log
    floor: float | None = None

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Search bounds of log τ, which are log(exposure / events) ± 9, and of the second parameter."""
        exposure = self.log.duration.sum() - self.log.entered.sum()
        middle = float(np.log(exposure / max(int(self.log.ended.sum()), 1)))
        second = self.law.bounds if self.floor is None else (self.floor, self.floor)
        return [(middle - WIDE, middle + WIDE), second]

    @cached_property
    def _ages(self) -> tuple[Array, Array, Array, Array, Array]:
        """Ages at exact ends, lower and upper bounds of censored ends, ages of open lifetimes, and ages at late entry."""
        log, exact = self.log, self.log.after == self.log.before
        between = log.ended & ~exact
        return log.after[exact], log.after[between], log.before[between], log.after[~log.ended], log.entered[log.entered > 0]

    def loss(self, point: Array) -> float:
        """Return the negative log-likelihood at (log τ, second parameter).

        >>> from malsim.lab.decay.log import Log
        >>> log = Log(np.array([1.0, 3.0, 4.0]), np.array([1.0, 3.0, np.inf]), np.zeros(3))
        >>> round(Likelihood(EXPONENTIAL, log).loss(np.array([np.log(4.0), 0.0])), 6)
        4.772589
        """
        log_tau, second = float(point[0]), float(point[1])
        survival = self.law.log_survival
        ended, last, first, still_true, sighted = self._ages
        total = survival(still_true, log_tau, second).sum() - survival(sighted, log_tau, second).sum()
        total += self.law.log_density(ended, log_tau, second).sum()
        at_last = survival(last, log_tau, second)
        fall = -np.expm1(survival(first, log_tau, second) - at_last)
        return -float(total + (at_last + np.log(np.maximum(fall, TINY))).sum())

    def best(self) -> Array:
        second = _minimiser(lambda second: self._profile(1, second)[0], self.bounds[1])
        return np.array([self._profile(1, second)[1], second])

    def interval(self, best: Array, parameter: int) -> tuple[float, float]:
        """Return the 95 % profile-likelihood interval of a parameter. An end that the data do not bound is infinite.

        The interval contains all values v with 2 (ℓ(best) − max over the other parameter of ℓ(v, ·)) ≤ 3.84.
        """
        low, high = self.bounds[parameter]
        if low == high:
            return low, low
        allowed = self.loss(best) + CHI_SQUARE / 2.0
        return self._end(best, parameter, -1.0, allowed), self._end(best, parameter, 1.0, allowed)

    def _end(self, best: Array, parameter: int, sign: float, allowed: float) -> float:
        """Find one end of the interval: double the step until the loss exceeds `allowed`, then locate the crossing.

        The end is infinite if either parameter reaches a bound of its search range, except that a floor ends at its bound.
        """
        limit, other = self.bounds[parameter][int(sign > 0.0)], 1 - parameter
        inside, step = float(best[parameter]), FIRST_STEP
        while True:
            further = sign * min(sign * inside + step, sign * limit)
            if self._profile(parameter, further)[0] > allowed:
                break
            if further == limit:
                is_floor = parameter == 1 and not self.law.logarithmic
                return limit if is_floor else sign * np.inf
            inside, step = further, 2.0 * step
        end = float(brentq(lambda value: self._profile(parameter, value)[0] - allowed, inside, further, xtol=1e-4))
        if other == 1 and not self.law.logarithmic:
            return end
        unbounded = min(abs(self._profile(parameter, end)[1] - bound) for bound in self.bounds[other]) < EDGE
        return sign * np.inf if unbounded else end

    def _profile(self, parameter: int, value: float) -> tuple[float, float]:
        """Return the minimum loss with one parameter fixed, and the value of the other parameter at that minimum."""

        def loss(other: float) -> float:
            return self.loss(np.array([value, other] if parameter == 0 else [other, value]))

        other = _minimiser(loss, self.bounds[1 - parameter])
        return loss(other), other


def _minimiser(loss: Callable[[float], float], bounds: tuple[float, float]) -> float:
    """Return the minimiser of a unimodal loss within bounds. The bounds themselves are possible results."""
    low, high = bounds
    if low == high:
        return low
    inner = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": CLOSE})
    return min((float(inner.x), low, high), key=loss)
