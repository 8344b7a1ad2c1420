"""Two laws of the field that are none here, ZenCrowd and GLAD, as minimal models: what facts of a liar's own do to them.

ZenCrowd: Demartini, Difallah and Cudré-Mauroux 2012, one reliability a writer, by expectation and maximisation, without
its links' priors. GLAD: Whitehill, Ruvolo, Wu, Bergsma and Movellan 2009, ability times ease, priors of mean and variance
one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from malsim.laws.truth.closed import closed
from malsim.laws.truth.evidence import Evidence

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.memory.graph.arrays import Array, Bools, Ints

    Claims: TypeAlias = tuple[Ints, Ints, Ints]

FACTS, SWEEPS = 100, 20


def world(seed: int, honest: int, liars: int, own: int) -> tuple[Claims, Ints]:
    """Honest writers of .85 and liars who are always wrong about a hundred facts, and facts of each liar's own."""
    draw = np.random.default_rng(seed)
    truth = draw.integers(0, 2, FACTS)
    rows = []
    for writer in range(honest + liars):
        right = draw.random(FACTS) < (0.85 if writer < honest else 0.0)
        rows += [(writer, about, int(value)) for about, value in enumerate(np.where(right, truth, 1 - truth))]
    for liar in range(liars):
        first = FACTS + liar * own
        rows += [(honest + liar, first + number, int(value)) for number, value in enumerate(draw.integers(0, 2, own))]
    writer, about, value = np.array(rows).T
    return (writer, about, value), truth


def odds(claims: Claims, weight: Array) -> Array:
    total: Array = np.bincount(claims[1], weights=(2 * claims[2] - 1) * weight).astype(np.float64)
    return total


def zencrowd(claims: Claims, *, from_votes: bool) -> Bools:
    """P(yes) from reliabilities r_w, r_w the mean of P of what w says; from votes, or from r = .8."""
    writer, about, value = claims
    p = np.bincount(about, weights=value) / np.bincount(about)
    reliability = np.full(writer.max() + 1, 0.8)
    for sweep in range(SWEEPS):
        if sweep or not from_votes:
            p = expit(odds(claims, np.log(reliability / (1.0 - reliability))[writer]))
        mean = np.bincount(writer, weights=np.where(value == 1, p[about], 1.0 - p[about])) / np.bincount(writer)
        reliability = np.clip(mean, 1e-6, 1.0 - 1e-6)
    return odds(claims, np.log(reliability / (1.0 - reliability))[writer]) > 0.0


def glad(claims: Claims) -> Bools:
    """P(w is right of o) = sigmoid(a_w e^{b_o}), by expectation and gradients."""
    writer, about, value = claims
    writers, objects = int(writer.max()) + 1, int(about.max()) + 1
    place = np.ones(writers + objects)
    for _ in range(SWEEPS):
        p = expit(odds(claims, place[writer] * np.exp(place[writers + about])))
        agreed = np.where(value == 1, p[about], 1.0 - p[about])

        def loss(at: Array, agreed: Array = agreed) -> tuple[float, Array]:
            ease = np.exp(at[writers + about])
            x = at[writer] * ease
            likely = agreed @ log_expit(x) + (1.0 - agreed) @ log_expit(-x) - 0.5 * ((at - 1.0) ** 2).sum()
            gap = agreed - expit(x)
            slope = np.concatenate([np.bincount(writer, weights=gap * ease), np.bincount(about, weights=gap * x)])
            return -likely, (at - 1.0) - slope

        place = minimize(loss, place, jac=True, method="L-BFGS-B", options={"maxiter": 25}).x
    return odds(claims, place[writer] * np.exp(place[writers + about])) > 0.0


def records(claims: Claims) -> Bools:
    writer, about, value = claims
    estimate = closed(Evidence(
        writer=writer, object=about, value=value, weight=np.ones(len(writer)), bin=np.full(len(writer), -1), reps=1,
        writer_rep=np.zeros(writer.max() + 1, dtype=np.int64), object_rep=np.zeros(about.max() + 1, dtype=np.int64),
        pinned=np.full(about.max() + 1, -1), values=2,
    ))  # fmt: skip
    believed: Bools = estimate.effective.argmax(axis=1) > 0
    return believed


def shares(law: Callable[[Claims], Bools], honest: int, liars: int) -> list[float]:
    """Accuracy on the hundred facts without and with three hundred facts of each liar's own."""
    right = []
    for own in (0, 300):
        claims, truth = world(4, honest, liars, own)
        right.append(float((law(claims)[:FACTS] == truth).mean()))
    return right


@pytest.mark.parametrize(("honest", "liars"), [(5, 2), (2, 1)])
def test_facts_of_their_own_buy_liars_zencrowd_where_it_begins_from_votes(honest: int, liars: int) -> None:
    before, after = shares(lambda claims: zencrowd(claims, from_votes=True), honest, liars)
    assert before > 0.9
    assert after < 0.1


@pytest.mark.parametrize(("honest", "liars"), [(5, 2), (2, 1)])
def test_records_and_what_begins_from_one_reliability_or_one_ability_stand(honest: int, liars: int) -> None:
    """A claim that nobody else speaks about is as often right as its writer: it moves neither reliability nor ability."""
    for law in (records, lambda claims: zencrowd(claims, from_votes=False), glad):
        before, after = shares(law, honest, liars)
        assert after >= 0.98 * before > 0.9
