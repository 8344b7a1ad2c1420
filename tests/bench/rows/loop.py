"""Benchmark of the simulation loop: time of a thousand replications relative to ten, and to ticks alone."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from malsim.sim import bench
from malsim.sim.settings.population import Population
from malsim.sim.settings.reader import Reader
from malsim.sim.settings.scenario import Scenario
from malsim.sim.world import Fact
from tests.bench.rows.memory import bare_tick
from tests.bench.rows.ratios import compare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.bench.rows.ratios import Ratio

__all__ = ["rows"]

DAYS = 365
FEW, MANY = 10, 1_000


def rows() -> Iterator[Ratio]:
    run = partial(bench.run, scenario(MANY))
    name = f"{DAYS} turns of {MANY:,} replications, against those of {FEW}"
    yield compare(name, run, partial(bench.run, scenario(FEW)), limit=25, repeats=3)
    name = f"{DAYS} turns of {MANY:,} replications, against {DAYS} bare ticks of the same arrays"
    yield compare(name, run, partial(_ticks, bare_tick(run().memory)), limit=5, repeats=5)


def scenario(replications: int) -> Scenario:
    facts = tuple(
        Fact(name=f"fact{n}", hazard=0.005, values=(0.0, 1.0, 2.0), topic=f"topic{n % 4}", stability="volatile")
        for n in range(10)
    )
    writers = (
        Population(behaviour="honest", count=3, rate=0.012),
        Population(behaviour="overconfident", count=2, rate=0.012),
        Population(behaviour="humble", count=2, rate=0.012),
        Population(behaviour="stale_echo", rate=0.012),
        Population(behaviour="poisoner", facts=("fact3",), rate=0.012),
    )
    return Scenario(
        seed=5, days=DAYS, replications=replications, record="bands", facts=facts, writers=writers,
        reader=Reader(behaviour="lazy"),
    )  # fmt: skip


def _ticks(step: Callable[[], object]) -> None:
    for _ in range(DAYS):
        step()
