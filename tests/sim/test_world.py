"""The truth: its changes told one after another come to what it is at any time."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from malsim.sim.world import Fact, World
from malsim.sim.world.clock import DAY

END = 5 * DAY
fact: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.builds(dict, hazard=st.sampled_from([0.0, 0.2, 3.0])),
    st.builds(dict, changes=st.lists(st.integers(0, END + 1), max_size=4).map(tuple)),
)


@settings(max_examples=40)
@given(st.lists(fact, max_size=3), st.integers(0, 3), st.lists(st.integers(0, 2 * END), min_size=1, max_size=4))
def test_changes_add_up_to_the_truth(given_facts: list[dict[str, Any]], replications: int, times: list[int]) -> None:
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
    for t in times:  # and back again
        np.testing.assert_array_equal(world.at(rep, index, t), world.at(rep, index, np.full(rep.shape, t)))


def test_drawn_first_values_are_balanced() -> None:
    facts = [Fact(name=f"f{n}", values=(0.0, 1.0, 2.0), start="drawn", hazard=0.3) for n in range(40)]
    reps, index = (part.ravel() for part in np.indices((50, len(facts))))
    world = World([*facts, Fact(name="still", start="first")], seed=3, reps=np.arange(50), end=END)
    share = np.bincount(world.at(reps, index, 0), minlength=3) / len(reps)
    assert np.abs(share - 1 / 3).max() < 0.05
    assert (world.at(np.arange(50), np.full(50, 40), END) == 0).all()
    ends = np.full(len(reps), END)
    np.testing.assert_array_equal(world.at(reps, index, END), world.at(reps, index, ends))
