"""When ticks are made: on time, late, missed, doubled; and that a run keeps to it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import malsim as ms
from malsim.base.errors import ScenarioError
from malsim.sim import bench
from malsim.sim.settings.timing import Timing
from malsim.sim.world.clock import DAY

SHARES = st.floats(0.0, 1.0)


@given(st.integers(1, 200), st.integers(1, 3 * DAY), st.integers(0, 2**40), SHARES, SHARES, SHARES)
def test_ticks_rise_stay_within_the_run_and_end_on_time(
    ticks: int, period: int, seed: int, late: float, missed: float, doubled: float
) -> None:
    scenario = ms.Scenario(days=ticks * period / DAY, turn_every=period, seed=seed)
    regular = Timing.regular(scenario)
    timing = Timing.jittered(scenario, late=late, missed=missed, doubled=doubled)
    at = np.array(timing.at)
    assert timing.at[-1] == regular.at[-1]
    assert (np.diff(at) > 0).all()
    turn = at // period  # whose tick it is
    assert len(np.unique(turn)) == len(at)
    assert set(turn * period) <= set(regular.at)
    assert timing.doubled <= set(timing.at)
    assert Timing.jittered(scenario, late=late, missed=missed, doubled=doubled) == timing


def test_shares_are_kept() -> None:
    scenario = ms.Scenario(days=4000.0)
    late = np.array(Timing.jittered(scenario, late=0.5).at)
    assert 0.46 < np.mean(late % DAY != 0) < 0.54
    assert 0.46 < np.mean((late % DAY)[late % DAY != 0] / DAY) < 0.54
    assert 0.26 < 1 - len(Timing.jittered(scenario, missed=0.3).at) / 4000 < 0.34
    assert 0.26 < len(Timing.jittered(scenario, doubled=0.3).doubled) / 4000 < 0.34
    assert Timing.jittered(scenario) == Timing.regular(scenario)
    assert len(Timing.jittered(scenario, missed=1.0).at) == 1


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_a_share_is_a_share(share: float) -> None:
    with pytest.raises(ScenarioError, match=r"timing\.late"):
        Timing.jittered(ms.Scenario(), late=share)


def test_a_run_ticks_when_it_is_told_to() -> None:
    ring = ms.read("scenarios/mutual_dispute.toml").replace(days=6.0)
    made = bench.run(ring, Timing((DAY // 2, 3 * DAY, 6 * DAY)))
    assert made.cells["t"].unique().sort().to_list() == [0.5, 3.0, 6.0]
    on_time = bench.run(ring)
    assert bench.run(ring, Timing.regular(ring)).cells.equals(on_time.cells)


def test_a_doubled_tick_is_two_ticks_recorded_once() -> None:
    ring = ms.read("scenarios/mutual_dispute.toml").replace(days=6.0)
    days = [float(day) for day in range(1, 7)]
    once = bench.run(ring).cells
    twice = bench.run(ring, Timing(tuple(int(day * DAY) for day in days), frozenset({2 * DAY}))).cells
    assert twice["t"].unique().sort().to_list() == days
    assert twice.height == once.height
    flips = [frame.filter(cell="obs_a1a1")["effective"].to_list() for frame in (once, twice)]
    assert flips[1][0] == flips[0][0]
    assert flips[1][1:5] == flips[0][2:6]  # from the doubled one on, it is a tick ahead


def test_a_late_tick_is_no_gap_for_a_reader() -> None:
    world = ms.read("scenarios/poisoner.toml").replace(days=6.0, replications=1)
    late = bench.run(world, Timing((DAY, 2 * DAY + 5, 3 * DAY + 9, 4 * DAY, 5 * DAY, 6 * DAY)))
    assert late.events.filter(kind="caught_up").is_empty()
    missed = bench.run(world, Timing((DAY, 2 * DAY, 4 * DAY, 5 * DAY, 6 * DAY)))
    assert missed.events.filter(kind="caught_up")["t"].to_list() == [4.0]
