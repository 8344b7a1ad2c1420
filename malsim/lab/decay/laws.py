"""Laws of survival: the share of claims still true after t days, and how fast they fall, as logarithms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
WIDE = 9.0
STEEPEST = 7.0
MOST_FLOOR = 0.999

if TYPE_CHECKING:
    from collections.abc import Callable

    Part: TypeAlias = Callable[[Array, float, float], Array]


@dataclass(frozen=True, kw_only=True)
class Law:
    """A law of a time constant (days) and a second parameter: log S(t), log −S'(t), and the second's name and bounds.

    Both functions take times above 0, shape (n,), log τ, and the second as `inner` has it: log k, or the floor itself.
    """

    name: str
    second: str
    low: float
    high: float
    log_survival: Part
    log_density: Part
    logarithmic: bool

    def outer(self, inner: float) -> float:
        """Return the second parameter as one reads it."""
        return float(np.exp(inner)) if self.logarithmic else inner

    def survival(self, t: Array, tau: float, second: float) -> Array:
        """S(t) for parameters as one reads them."""
        inner = float(np.log(second)) if self.logarithmic else second
        return np.exp(self.log_survival(np.asarray(t, dtype=np.float64), float(np.log(tau)), inner))


def _exponential(t: Array, log_tau: float, floor: float) -> Array:
    """Log of floor + (1 − floor) e^(−t/τ)."""
    logarithm: Array = np.log(floor + (1.0 - floor) * np.exp(-t * np.exp(-log_tau)) + TINY)
    return logarithm


def _exponential_density(t: Array, log_tau: float, floor: float) -> Array:
    """Log of (1 − floor)/τ e^(−t/τ)."""
    logarithm: Array = np.log1p(-floor) - log_tau - t * np.exp(-log_tau)
    return logarithm


def _power(t: Array, log_tau: float, log_k: float) -> Array:
    """Log of (1 + t/τ)^−k."""
    logarithm: Array = -np.exp(log_k) * np.log1p(t * np.exp(-log_tau))
    return logarithm


def _power_density(t: Array, log_tau: float, log_k: float) -> Array:
    """Log of k/τ (1 + t/τ)^(−k−1)."""
    logarithm: Array = log_k - log_tau - (np.exp(log_k) + 1.0) * np.log1p(t * np.exp(-log_tau))
    return logarithm


def _weibull(t: Array, log_tau: float, log_k: float) -> Array:
    """Log of e^(−(t/τ)^k)."""
    logarithm: Array = -np.exp(np.minimum(np.exp(log_k) * (np.log(np.maximum(t, TINY)) - log_tau), LARGEST))
    return logarithm


def _weibull_density(t: Array, log_tau: float, log_k: float) -> Array:
    """Log of k/τ (t/τ)^(k−1) e^(−(t/τ)^k)."""
    scaled = np.log(np.maximum(t, TINY)) - log_tau
    logarithm: Array = log_k - log_tau + (np.exp(log_k) - 1.0) * scaled + _weibull(t, log_tau, log_k)
    return logarithm


TINY, LARGEST = 1e-300, 600.0
_SHAPE = {"second": "k", "low": -STEEPEST, "high": STEEPEST, "logarithmic": True}

LAWS = {
    "exponential": Law(
        name="exponential", second="floor", low=0.0, high=MOST_FLOOR,
        log_survival=_exponential, log_density=_exponential_density, logarithmic=False,
    ),
    "power": Law(name="power", log_survival=_power, log_density=_power_density, **_SHAPE),  # type: ignore[arg-type]
    "weibull": Law(name="weibull", log_survival=_weibull, log_density=_weibull_density, **_SHAPE),  # type: ignore[arg-type]
}  # fmt: skip
