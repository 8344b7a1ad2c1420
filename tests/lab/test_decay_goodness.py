"""Tests that non-exponential lifetimes are rejected and that the interval covers their mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import malsim as ms
from malsim.lab.decay.goodness import of_claims, of_lifetimes
from malsim.lab.decay.log import Log
from malsim.lab.decay.rates import Chain, Rates
from malsim.lab.decay.renewal import Renewal, phases

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.lab.decay.goodness import Goodness

MEAN, SIZE = 30.0, 250
LEAST, MOST = 0.92, 0.07
OTHERS = ("weibull", "lognormal")


def lifetimes(law: str, count: int, draws: np.random.Generator) -> NDArray[np.float64]:
    """Return lifetimes with a mean of 30 days: exponential, Weibull (shape 0.5) or lognormal (σ = 1.2)."""
    if law == "exponential":
        return draws.exponential(MEAN, count)
    return MEAN / 2 * draws.weibull(0.5, count) if law == "weibull" else draws.lognormal(np.log(MEAN) - 0.72, 1.2, count)


def goodness_of(law: str, rounds: int, *, seed: int) -> list[Goodness]:
    samples = (lifetimes(law, SIZE, np.random.default_rng([seed, number])) for number in range(rounds))
    return [of_lifetimes(Log(sample, sample, np.zeros(SIZE))) for sample in samples]


def claims(law: str, *, seed: int, objects: int = 8, days: int = 400) -> Chain:
    """Return daily claims about `objects` objects with three possible values; 5 % of the claims are wrong."""
    draws = np.random.default_rng([seed, objects])
    values = np.zeros((days, objects), dtype=np.int64)
    for index in range(objects):
        ends = np.cumsum(lifetimes(law, 4000, draws))
        truth = np.append(0, draws.integers(1, 3, len(ends))).cumsum()[np.searchsorted(ends, np.arange(days) + 3000.0)]
        values[:, index] = (truth + (draws.random(days) < 0.05) * draws.integers(1, 3, days)) % 3
    gap = np.ones(values.shape)
    gap[0] = 0.0
    return Chain(gap, values, np.full(objects, days), np.full(objects, 3))


@settings(max_examples=30)
@given(mean=st.floats(0.1, 1000.0), spread=st.floats(0.51, 30.0))
def test_two_phase_lifetimes_have_the_given_mean_and_spread(mean: float, spread: float) -> None:
    first, between = phases(np.array([mean]), np.array([spread]))
    stays = np.linalg.inv(-between[0])
    once, twice = first[0] @ stays @ np.ones(2), 2.0 * first[0] @ stays @ stays @ np.ones(2)
    assert once == pytest.approx(mean, rel=1e-6)
    assert twice / once**2 - 1.0 == pytest.approx(spread, rel=1e-6)


def test_spread_of_1_gives_the_exponential_likelihood() -> None:
    chain = claims("exponential", seed=1, objects=3, days=40)
    tau, error = np.array([5.0, 40.0]), np.array([0.2, 0.05])
    points = np.stack([np.log(tau), np.zeros(2), np.log(error)], axis=1)
    np.testing.assert_allclose(Renewal(chain).loss(points), chain.loss(tau, error), rtol=1e-6)


@pytest.mark.parametrize("law", OTHERS)
def test_non_exponential_lifetimes_are_rejected(law: str) -> None:
    assert all(goodness.rejected and goodness.law == law for goodness in goodness_of(law, 4, seed=3))


@pytest.mark.nightly
@pytest.mark.parametrize("law", OTHERS)
def test_intervals_cover_the_mean_of_rejected_lifetimes(law: str) -> None:
    results = goodness_of(law, 200, seed=3)
    assert sum(goodness.rejected for goodness in results) >= 0.9 * 200
    covered = sum(goodness.mean[1] <= MEAN <= goodness.mean[2] for goodness in results)
    assert covered >= (LEAST - 0.04) * 200  # two standard errors below LEAST


@pytest.mark.nightly
def test_exponential_lifetimes_are_seldom_rejected() -> None:
    assert sum(goodness.rejected for goodness in goodness_of("exponential", 300, seed=4)) <= MOST * 300


def test_exponential_law_can_be_rejected_despite_wrong_claims() -> None:
    chain = claims("weibull", seed=5)
    rates = Rates(tau=(45.0, 35.0, 60.0), error=(0.05, 0.04, 0.06), reports=(1.0, 1.0, 1.0), invisible=(0.0, 0.0, 0.1))
    assert of_claims(chain, rates).rejected


def test_rejected_fit_gives_no_time_constant() -> None:
    dead = lifetimes("weibull", SIZE, np.random.default_rng(6))
    fit = ms.fit_decay(pl.DataFrame({"duration": dead, "ended": [True] * SIZE}))
    assert fit.constants.filter(law="exponential")["value"].is_nan().all()
    assert fit.goodness.law == "weibull"
    assert "no single time constant: the exponential is rejected" in str(fit)
    assert fit.figure().axes
