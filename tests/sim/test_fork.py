"""Tests that a fork equals the original run until the day of the fork, and on every day if nothing is changed."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import malsim as ms
from malsim.base.errors import MalsimError
from malsim.sim.record.manifest import digest
from malsim.sim.run import FRAMES
from malsim.sim.settings.population import ClaimFault, Population

NAMES = ("poisoner", "noise_and_bad", "tripwire", "hostile_supersession", "reviewers")
POISON = Population(behaviour="poisoner", name="late", count=2, rate=1.0)
DAY = 8


def frames(run: ms.Run, upto: float | None = None) -> dict[str, str]:
    held = {name: getattr(run, name) for name in FRAMES}
    if upto is not None:
        held = {name: frame.filter(pl.col("t") <= upto) for name, frame in held.items() if name != "events"}
        held["events"] = run.events.filter(pl.col("t") < upto)
    return {name: digest(frame) for name, frame in held.items()}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("replications", [1, 3])
def test_fork_without_changes_equals_the_run(name: str, replications: int) -> None:
    run = ms.run(f"scenarios/{name}.toml", days=20.0, replications=replications, record="all")
    assert frames(run.at(day=DAY).fork()) == frames(run)
    same = ms.fork(run, day=DAY, rules={}, law=run.scenario.law, writers=run.scenario.writers, faults=run.scenario.faults)
    assert frames(same) == frames(run)


CHANGES: list[dict[str, Any]] = [
    {"rules": {"challenge_ceiling": 0.1, "confidence_cap": 0.5}},
    {"law": "recall_v5"},
    {"writers": ()},
    {"writers": (POISON,)},
    {"faults": (ClaimFault(population="honest", noise={"flip": 1.0}),)},
]


@pytest.mark.parametrize("change", CHANGES, ids="-".join)
def test_fork_changes_only_later_days(change: dict[str, Any]) -> None:
    run = ms.run("scenarios/poisoner.toml", days=20.0, replications=2, record="all")
    other = ms.fork(run, day=DAY, **change)
    assert frames(other, upto=DAY) == frames(run, upto=DAY)
    assert frames(other) != frames(run)
    assert other.manifest["forked"] == DAY


def test_fork_figures_use_the_new_rules() -> None:
    run = ms.run("scenarios/worked_example.toml", record="all")
    other = ms.fork(run, day=0, rules={"challenge_ceiling": 0.2})
    assert frames(other) == frames(ms.run(run.scenario, rules={"challenge_ceiling": 0.2}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"day": 99.0}, "day"),
        ({"day": 3, "seed": 4}, "this setting cannot be changed in a fork"),
        ({"day": 3, "law": "graphiti"}, "cannot continue from the memory of mal"),
        ({"day": 3, "writers": (Population(behaviour="honest", name="honest", count=77),)}, "with other settings"),
    ],
)
def test_invalid_forks_are_refused(change: dict[str, Any], message: str) -> None:
    run = ms.run("scenarios/poisoner.toml", days=20.0, replications=1)
    with pytest.raises(MalsimError, match=message):
        ms.fork(run, **change)
