"""A replication's numbers stay bit for bit, whatever else runs beside it and whatever is added to the run."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malsim.base.errors import ScenarioError
from malsim.memory.gate.checks import LAST_REPLICATION
from malsim.memory.port import HoldsGraph
from malsim.scenario.file.scenario_file import read
from malsim.sim import bench
from malsim.sim.record.manifest import digest
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import DataObject, SearchStrategy

    from malsim.sim.run import Run
    from malsim.sim.settings.scenario import Scenario

    Hashes = Callable[[Run, int], dict[str, str]]
    Unresolved = Callable[[Run], list[tuple[object, ...]]]

SHIPPED = sorted((Path(__file__).parents[2] / "scenarios").glob("*.toml"))
TURNS = 8


@settings(settings.get_profile("few"))
@given(data=st.data())
def test_replication_k_of_many_equals_replication_k_alone(
    drawn: SearchStrategy[Scenario], replication_hashes: Hashes, data: DataObject
) -> None:
    scenario = data.draw(drawn)
    nth = data.draw(st.integers(0, scenario.replications - 1))
    number = scenario.first + nth
    alone = bench.run(replace(scenario, first=number, replications=1))
    assert replication_hashes(bench.run(scenario), number) == replication_hashes(alone, number)


def test_highest_replication_number_works() -> None:
    scenario = read(SHIPPED[0].with_name("poisoner.toml")).replace(replications=1, record="all", days=9.0)
    said = set(bench.run(scenario.replace(first=LAST_REPLICATION)).events["kind"])
    assert "admitted" in said
    assert "rejected" not in said
    with pytest.raises(ScenarioError, match="out of bounds"):
        scenario.replace(first=LAST_REPLICATION + 1)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_scenarios_run_the_same_alone_with_causes(
    path: Path, replication_hashes: Hashes, unresolved: Unresolved
) -> None:
    scenario = read(path)
    stretched = max(scenario.turn_every, int(scenario.days * DAY) // TURNS)  # its whole story in a few turns
    many = bench.run(scenario.replace(replications=2, first=5, turn_every=stretched, record="all"))
    alone = bench.run(scenario.replace(replications=1, first=6, turn_every=stretched, record="all"))
    assert replication_hashes(many, 6) == replication_hashes(alone, 6)
    if isinstance(many.plant, HoldsGraph):  # whose cells name what events speak of
        assert unresolved(many) == []


HASHES = """
import sys
from malsim.base.errors import ScenarioError
from malsim.memory.gate.checks import LAST_REPLICATION
from malsim.scenario.file.scenario_file import read
from malsim.sim import bench
from malsim.sim.world.clock import DAY
from malsim.sim.record.manifest import digest
run = bench.run(read(sys.argv[1]).replace(days=9.0, replications=2, first=int(sys.argv[2])))
print([digest(getattr(run, name)) for name in ("cells", "events", "signals", "writers")])
"""


def test_two_processes_give_the_replications_of_one(replication_hashes: Hashes) -> None:
    path = SHIPPED[0].with_stem("disobedient_reader")
    whole = bench.run(read(path).replace(days=9.0, replications=4))
    said = subprocess.run(
        [sys.executable, "-c", HASHES, str(path), "2"], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONHASHSEED": "77", "POLARS_MAX_THREADS": "1"},
    ).stdout  # fmt: skip
    late = [getattr(whole, name).filter(pl.col("rep") >= 2) for name in ("cells", "events", "signals", "writers")]
    assert said.strip() == str([digest(frame) for frame in late])
    again = bench.run(read(path).replace(days=9.0, replications=4))
    assert [replication_hashes(again, rep) for rep in range(4)] == [replication_hashes(whole, rep) for rep in range(4)]
