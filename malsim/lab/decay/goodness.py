"""Test of whether lifetimes follow an exponential law and, if they do not, the mean of a law that fits better."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize
from scipy.special import chdtrc, gammaln, log_ndtr

from malsim.lab.decay.likelihood import CHI_SQUARE, EXPONENTIAL, TINY, WEIBULL, WIDE, Law, Likelihood
from malsim.lab.decay.log import Log
from malsim.lab.decay.renewal import SPREADS, Renewal

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.lab.decay.rates import Chain, Rates
    from malsim.memory.graph.arrays import Array

LEVEL = 0.03  # significance level at which even small samples reject a true exponential in only about 5 % of cases
FEWEST = 5
# Exponent that widens the interval of the mean. Without it, only 85 of 100 intervals covered the true mean in tests with a
# Weibull law of shape 0.5 and 15 % wrong claims.
TAIL = 0.7
SHAPES = (-0.5, 0.0, 0.5)  # starting values of log k in the search for the most likely Weibull law
STEEPEST = 3.0
LARGE = 1e300
HALF_LOG_TWO_PI = 0.9189385332046727


@dataclass(frozen=True, kw_only=True)
class Goodness:
    """Goodness of fit of the exponential law: the p-value `p` (NaN if untested), and the law that fits better.

    `law` is weibull, lognormal or renewal; `shape` is its k, σ or coefficient of variation, respectively; `mean` is its
    mean in days with a 95 % interval.
    """

    p: float
    law: str = ""
    shape: float = np.nan
    mean: tuple[float, float, float] = (np.nan, 0.0, np.inf)

    @property
    def rejected(self) -> bool:
        return self.p < LEVEL

    def __str__(self) -> str:
        names = {
            "weibull": "Weibull of shape",
            "lognormal": "lognormal of σ",
            "renewal": "a law of coefficient of variation",
        }
        value, low, high = self.mean
        return (
            f"no single time constant: the exponential is rejected (p {self.p:.2g}); {names[self.law]} {self.shape:.3g} "
            f"fits better, of mean {value:.4g} [{low:.4g}, {high:.4g}] d"
        )


UNTESTED = Goodness(p=np.nan)


def _lognormal(t: Array, log_tau: float, log_sigma: float) -> Array:
    """Return the log survival of a lognormal lifetime, log Φ(−(log t − log τ) / σ)."""
    survival: Array = log_ndtr((log_tau - np.log(np.maximum(t, TINY))) * np.exp(-log_sigma))
    return survival


def _lognormal_density(t: Array, log_tau: float, log_sigma: float) -> Array:
    """Return the log density of a lognormal lifetime at t."""
    scaled = (np.log(np.maximum(t, TINY)) - log_tau) * np.exp(-log_sigma)
    density: Array = -np.log(np.maximum(t, TINY)) - log_sigma - scaled**2 / 2.0 - HALF_LOG_TWO_PI
    return density


LOGNORMAL = Law("lognormal", bounds=(-4.0, 1.5), log_survival=_lognormal, log_density=_lognormal_density, logarithmic=True)
# pairs of a law and the function that computes log(mean / τ) from its second parameter
_BY_MEAN = [
    (WEIBULL, lambda log_k: float(gammaln(1.0 + np.exp(-log_k)))),
    (LOGNORMAL, lambda log_sigma: float(np.exp(2.0 * log_sigma) / 2.0)),
]


def of_lifetimes(log: Log) -> Goodness:
    """Test lifetimes against an exponential law with a floor, unless there are fewer than five distinct ends.

    The alternatives are a Weibull with a floor, tested by the likelihood ratio (χ², one degree of freedom), and a
    lognormal. The exponential is not a special case of the lognormal, whose p-value is therefore approximated by e^(1 −
    gain in log-likelihood). The result is twice the smaller p-value.

    Examples
    --------
    >>> draws = np.random.default_rng(0)
    >>> dead = 15.0 * draws.weibull(0.5, 200)
    >>> goodness = of_lifetimes(Log(dead, dead, np.zeros(200)))
    >>> goodness.rejected, goodness.law, goodness.mean[1] < 30.0 < goodness.mean[2]
    (True, 'weibull', True)
    """
    if len(np.unique(log.duration[log.ended])) < FEWEST:
        return UNTESTED
    null = Likelihood(EXPONENTIAL, log)
    best = null.best()
    alternatives = [Likelihood(_of_mean(law, shift), log) for law, shift in _BY_MEAN]
    points = [alternative.best() for alternative in alternatives]
    losses = [alternative.loss(point) for alternative, point in zip(alternatives, points, strict=True)]
    ratio = 2.0 * (null.loss(best) - _weibull_loss(null, best))
    gain = null.loss(best) - losses[1]
    p = min(1.0, 2.0 * min(float(chdtrc(1, max(ratio, 0.0))), float(np.exp(min(1.0 - gain, 0.0)))))
    if p >= LEVEL:
        return Goodness(p=p)
    index = int(np.argmin(losses))
    likelihood, point = alternatives[index], points[index]
    mean = np.exp([point[0], *likelihood.interval(point, 0)]).tolist()
    return Goodness(p=p, law=likelihood.law.name, shape=float(np.exp(point[1])), mean=(mean[0], mean[1], mean[2]))


def of_claims(chain: Chain, rates: Rates) -> Goodness:
    """Test the exponential law on possibly wrong claims by a likelihood ratio against laws with a spread c other than 1.

    The interval of the mean is the union of the intervals for all spreads that the claims do not reject. For one spread, it
    is the most likely mean with the interval of τ widened by c^0.7 (in logarithms), since the mean of n lifetimes is known
    to √(c / n), or less precisely if the tail is long. An unbounded τ is not tested.
    """
    tau, low, high = rates.tau
    if not 0.0 < low < tau < high < np.inf:
        return UNTESTED
    null, middle = chain.profile(np.log([tau]), parameter=0)
    losses, means = Renewal(chain).profile(SPREADS, tau=tau, error=float(np.exp(middle[0])))
    best = int(losses.argmin())
    p = float(chdtrc(1, max(2.0 * (float(null[0]) - float(losses[best])), 0.0)))
    spreads, losses, means = np.append(SPREADS, 0.0), np.append(losses, null), np.append(means, np.log(tau))
    near, wider = losses <= losses.min() + CHI_SQUARE / 2.0, np.exp(TAIL * np.maximum(spreads, 0.0))
    ends = (means + np.log(low / tau) * wider)[near].min(), (means + np.log(high / tau) * wider)[near].max()
    mean = np.exp([means[best], *ends]).tolist()
    return Goodness(p=p, law="renewal", shape=float(np.exp(SPREADS[best] / 2.0)), mean=(mean[0], mean[1], mean[2]))


def _of_mean(law: Law, shift: Callable[[float], float]) -> Law:
    """Reparametrise a law so that its first parameter is the logarithm of the mean instead of log τ."""
    return replace(
        law,
        log_survival=lambda t, mean, second: law.log_survival(t, mean - shift(second), second),
        log_density=lambda t, mean, second: law.log_density(t, mean - shift(second), second),
    )


def _weibull_loss(null: Likelihood, best: Array) -> float:
    """Return the lowest loss of S = f + (1 − f) e^(−(t/τ)^k), which is an exponential law in the ages t^k."""
    log = null.log
    exact = log.ended & (log.after == log.before)
    ages = np.log(np.maximum(log.after[exact], TINY)).sum()
    count = int(exact.sum())

    def loss(point: Array) -> float:
        k = np.exp(point[2])
        transformed = Likelihood(null.law, Log(log.after**k, log.before**k, log.entered**k))
        value = transformed.loss(np.array([k * point[0], point[1]])) - count * point[2] - (k - 1.0) * ages
        return float(value) if np.isfinite(value) else LARGE

    bounds = [(best[0] - WIDE, best[0] + WIDE), null.bounds[1], (-STEEPEST, STEEPEST)]
    starts = [np.array([best[0], floor, shape]) for floor in (best[1], 0.05) for shape in SHAPES]
    return min(
        float(minimize(loss, start, method="Nelder-Mead", bounds=bounds, options={"xatol": 1e-3, "fatol": 1e-3}).fun)
        for start in starts
    )
