"""Tests that draws depend only on their address and look random, and that a fact's changes lead to its true value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from malsim.sim.world import Fact, World
from malsim.sim.world.clock import DAY
from malsim.sim.world.draws import Array, Draws

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

NAMES = st.text(max_size=12)
NUMBERS = st.integers(0, 2**40)


@given(st.integers(0, 2**63 - 1), NAMES, NAMES, st.lists(NUMBERS, min_size=1, max_size=20), NUMBERS, NUMBERS)
def test_draw_is_the_same_alone_and_in_a_batch(
    seed: int, population: str, purpose: str, reps: list[int], member: int, turn: int
) -> None:
    draws = Draws(seed, population)
    together = draws.bits(purpose, rep=np.array(reps), member=member, turn=turn)
    alone = [draws.bits(purpose, rep=rep, member=np.array([member]), turn=turn)[0] for rep in reps]
    assert together.tolist() == alone


@given(st.lists(NAMES, min_size=1, max_size=4), st.lists(st.tuples(st.integers(0, 3), NUMBERS, NUMBERS), max_size=9))
def test_each_population_draws_its_own_numbers(names: list[str], rows: list[tuple[int, int, int]]) -> None:
    of, rep, turn = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    of %= len(names)
    together = Draws(3, tuple(names), of).bits(("p", "q"), rep=rep, member=1, turn=turn)
    for row, index in enumerate(of):
        alone = Draws(3, names[index]).bits(("p", "q"), rep=rep[row], member=1, turn=turn[row])
        assert together[:, row].tolist() == alone[:, 0].tolist()


@given(NUMBERS, NUMBERS, NUMBERS)
def test_each_part_of_an_address_changes_the_draw(rep: int, member: int, turn: int) -> None:
    addresses = {(rep, member, turn), (member, turn, rep), (turn, rep, member), (rep, turn, member)}
    drawn = {int(Draws(1, "a").bits("p", rep=a, member=b, turn=c)[0]) for a, b, c in addresses}
    assert len(drawn) == len(addresses)
    assert Draws(1, "a").bits("b", rep=rep)[0] != Draws(1, "b").bits("a", rep=rep)[0]


SIZE = 40_000
ALONG: dict[str, Callable[[Draws, int], Array]] = {
    "rep": lambda draws, n: draws.uniform("p", rep=np.arange(n), member=3, turn=9),
    "member": lambda draws, n: draws.uniform("p", rep=5, member=np.arange(n), turn=9),
    "turn": lambda draws, n: draws.uniform("p", rep=5, member=3, turn=np.arange(n)),
    "seed": lambda _, n: np.concatenate([Draws(seed, "x").uniform("p", rep=np.arange(200)) for seed in range(n // 200)]),
    "purpose": lambda draws, n: np.concatenate([draws.uniform(str(i), rep=np.arange(200)) for i in range(n // 200)]),
}


@pytest.mark.parametrize("part", ALONG)
def test_draws_are_uniform_and_uncorrelated(part: str) -> None:
    drawn = ALONG[part](Draws(11, "x"), SIZE)
    assert stats.kstest(drawn, "uniform").pvalue > 1e-4
    for lag in (1, 2, 7, 200):
        assert abs(np.corrcoef(drawn[:-lag], drawn[lag:])[0, 1]) < 4.5 / np.sqrt(SIZE)
    pairs = np.histogram2d(drawn[:-1], drawn[1:], bins=16)[0]
    assert stats.chisquare(pairs.ravel()).pvalue > 1e-4


def test_each_distribution_has_the_expected_moments() -> None:
    draws, reps = Draws(3, "x"), np.arange(SIZE)
    assert stats.kstest(draws.normal("n", rep=reps), "norm").pvalue > 1e-4
    assert stats.kstest(draws.exponential("e", rep=reps), "expon").pvalue > 1e-4
    counts = np.bincount(draws.below(6, "b", rep=reps), minlength=6)
    assert len(counts) == 6
    assert stats.chisquare(counts).pvalue > 1e-4
    assert np.isfinite(draws.normal("n", rep=reps)).all()


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_random_event_happens_if_its_draw_is_below_its_chance(share: float) -> None:
    address: dict[str, Any] = {"rep": np.arange(5)[:, None], "member": np.arange(3), "turn": 2}
    draws = Draws(4, "x")
    np.testing.assert_array_equal(draws.happens(share, "p", **address), draws.uniform("p", **address) < share)


END = 5 * DAY
fact: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.builds(dict, hazard=st.sampled_from([0.0, 0.2, 3.0])),
    st.builds(dict, changes=st.lists(st.integers(0, END + 1), max_size=4).map(tuple)),
)


@settings(max_examples=40)
@given(st.lists(fact, max_size=3), st.integers(0, 3), st.lists(st.integers(0, 2 * END), min_size=1, max_size=4))
def test_changes_of_a_fact_add_up_to_its_true_value(
    given_facts: list[dict[str, Any]], replications: int, times: list[int]
) -> None:
    facts = [Fact(name=f"f{n}", values=(0.0, 1.0, 2.0), **settings) for n, settings in enumerate(given_facts)]
    world = World(facts, seed=3, reps=np.arange(replications), end=END)
    rep, index = (part.ravel() for part in np.indices((replications, len(facts))))
    held, before = world.first.T.copy(), 0
    for t in sorted(times):
        changes = world.between(before, t + 1)
        assert (np.diff(changes.t) >= 0).all()
        held[changes.rep, changes.fact], before = changes.value, t + 1
        np.testing.assert_array_equal(world.at(rep, index, np.full(rep.shape, t)), held.ravel())
        np.testing.assert_array_equal(world.at(rep, index, t), held.ravel())
    for t in times:  # values can be read again after later times were read
        np.testing.assert_array_equal(world.at(rep, index, t), world.at(rep, index, np.full(rep.shape, t)))


def test_random_initial_values_are_equally_frequent() -> None:
    facts = [Fact(name=f"f{n}", values=(0.0, 1.0, 2.0), start="drawn", hazard=0.3) for n in range(40)]
    reps, index = (part.ravel() for part in np.indices((50, len(facts))))
    world = World([*facts, Fact(name="still", start="first")], seed=3, reps=np.arange(50), end=END)
    share = np.bincount(world.at(reps, index, 0), minlength=3) / len(reps)
    assert np.abs(share - 1 / 3).max() < 0.05
    assert (world.at(np.arange(50), np.full(50, 40), END) == 0).all()
    ends = np.full(len(reps), END)
    np.testing.assert_array_equal(world.at(reps, index, END), world.at(reps, index, ends))
