"""Time constant of facts: estimated where facts change, but not where a single liar denies old facts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malsim.base.errors import MalsimError
from malsim.lab.studies.laws.stream import Stream, ask, questions_of
from malsim.laws import find_law, plant_of
from malsim.laws.truth.fading import fading
from tests.bench.studies.changing_facts import DAYS, late_writers, right_share


@pytest.mark.quick
@pytest.mark.parametrize("seed", [101, 102])
def test_estimated_time_constant_follows_changing_facts(seed: int) -> None:
    assert right_share(seed, "claims") >= 0.95 > right_share(seed, "given")


claims_of = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 5), st.integers(0, 2), st.floats(0.0, 1e4)),
    min_size=1,
    max_size=60,
)


@given(claims_of)
@settings(max_examples=60)
def test_time_constant_of_a_kind_ignores_other_kinds(rows: list[tuple[int, int, int, int, float]]) -> None:
    kind, writer, index, value, time = (np.array(column) for column in zip(*rows, strict=True))
    about = kind * 6 + index  # every object belongs to exactly one kind
    whole = fading(kind, writer, about, value, time)
    for item in np.unique(kind):
        index = np.flatnonzero(kind == item)
        alone = fading(np.zeros(len(index), dtype=int), writer[index], about[index], value[index], time[index])
        assert all((a == b[index]).all() for a, b in zip(alone, whole, strict=True))


@given(claims_of)
@settings(max_examples=60)
def test_weights_and_intervals_are_within_bounds(rows: list[tuple[int, int, int, int, float]]) -> None:
    fit = fading(*(np.array(column) for column in zip(*rows, strict=True)))
    assert ((fit.weight >= 0.0) & (fit.weight <= 1.0)).all()
    assert ((fit.low <= fit.tau) & (fit.tau <= fit.high)).all()
    assert (fit.weight[fit.tau == 0.0] == 1.0).all()


def test_liar_who_denies_old_facts_does_not_speed_up_decay() -> None:
    about = np.concatenate([np.tile(np.arange(40), 2), np.arange(20)])
    value, time = np.repeat([0, 1], [80, 20]), np.concatenate([np.repeat([0.0, 5.0], 40), np.full(20, 300.0)])
    assert not fading(np.zeros(100, dtype=int), np.repeat([0, 1, 2], [40, 40, 20]), about, value, time).tau.any()


def test_gossip_about_old_values_does_not_speed_up_decay() -> None:
    about, writer = np.tile(np.arange(40), 3), np.repeat([0, 1, 2], 40)
    # two writers report every new value at once, while the third repeats old values
    time = np.concatenate([np.full(80, 300.0), 300.0 - 2.0 * np.arange(40)])
    assert not fading(np.zeros(120, dtype=int), writer, about, (writer < 2).astype(int), time).tau.any()


def test_explanation_mentions_the_time_constant() -> None:
    law = find_law("records")
    claims, truth = late_writers(101, writers=4)
    stream = Stream.of(claims, questions_of(truth))
    plant: Any = plant_of(law)
    state, _ = plant.admit(plant.init(range(1), stream.vocabulary), stream.claims)
    state = plant.tick(state, DAYS + 60.0)
    alive = np.flatnonzero(plant.view(state, DAYS + 60.0).active)
    assert "claims fade within" in str(plant.explain(state, alive, int(alive[0]), DAYS + 60.0))
    with pytest.raises(MalsimError, match="tau_from"):
        ask(plant_of(law, {"tau_from": "nowhere"}), stream, ticks=True)
