"""Laws against writers who lie: forty facts of two values that are drawn, twenty-four days, on common random numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.intervals import SHARE
from malsim.sim import bench
from malsim.sim.settings.population import Population
from malsim.sim.settings.scenario import Scenario
from malsim.sim.world import Fact
from tests.bench.studies import mean_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.memory.graph.arrays import Array

__all__ = ["WORLDS", "adversary_table"]

FACTS, DAYS, PINNED = 40, 24.0, 4
LAWS = ("mal", "majority", "dawid_skene", "records")


def _honest(count: int) -> Population:
    return Population(behaviour="honest", count=count, rate=1.0, settings={"accuracy": 0.87})


def _audit() -> Population:
    """Four of the facts verified from outside."""
    facts = tuple(f"claim-{number}" for number in range(PINNED))
    return Population(
        behaviour="honest", name="audit", facts=facts, rate=1.0, settings={"accuracy": 1.0}, verification="external"
    )


WORLDS: dict[str, tuple[Population, ...]] = {
    "10 honest": (_honest(10),),
    "30 % colluders": (_honest(7), Population(behaviour="colluders", count=3, rate=1.0)),
    "3 of 10 poisoners": (_honest(7), Population(behaviour="poisoner", count=3, rate=1.0)),
    "4 of 10 sleepers": (_honest(6), Population(behaviour="sleeper", count=4, rate=1.0)),
    "half colluders": (_honest(5), Population(behaviour="colluders", count=5, rate=1.0)),
    "half colluders, 4 verified": (_honest(5), Population(behaviour="colluders", count=5, rate=1.0), _audit()),
    "10 sybils, 5 honest": (_honest(5), Population(behaviour="sybil", count=10, rate=2.0)),
    "10 sybils, 5 honest, 4 verified": (_honest(5), Population(behaviour="sybil", count=10, rate=2.0), _audit()),
}


def adversary_table(*, laws: Sequence[str] = LAWS, replications: int = 5, seed: int = 0) -> pl.DataFrame:
    """The share of facts that nobody verified told right on the last day: world, law, value, low, high (95 %)."""
    return pl.DataFrame([
        mean_row(told_right(writers, law, replications=replications, seed=seed), SHARE, world=world, law=law)
        for world, writers in WORLDS.items() for law in laws
    ])  # fmt: skip


def told_right(writers: tuple[Population, ...], law: str, *, replications: int, seed: int) -> Array:
    """Of each replication, the share of the facts that nobody verifies which are told right on the last day."""
    facts = tuple(Fact(name=f"claim-{number}") for number in range(FACTS))
    unverified = tuple(f"right({fact.name})" for fact in facts[PINNED:])
    scenario = Scenario(
        name="adversaries", seed=seed, days=DAYS, replications=replications, facts=facts, writers=writers, law=law,
        record=unverified, record_every=int(DAYS),
    )  # fmt: skip
    last = bench.run(scenario).signals.filter(pl.col("t") == DAYS)
    share = last.group_by("rep").agg(pl.col("value").mean()).sort("rep")["value"]
    return np.asarray(share.to_numpy(), dtype=np.float64)
