"""Tests that a replication yields bit-for-bit identical results alone and in a batch."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import malsim as ms
from malsim.base.errors import ScenarioError
from malsim.laws import plant_of, shipped_laws
from malsim.memory.gate.checks import LAST_REPLICATION
from malsim.memory.port import Claims, HoldsGraph, View, Vocabulary
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
def test_replication_in_a_batch_equals_the_same_run_alone(
    drawn: SearchStrategy[Scenario], replication_hashes: Hashes, data: DataObject
) -> None:
    scenario = data.draw(drawn)
    nth = data.draw(st.integers(0, scenario.replications - 1))
    number = scenario.first + nth
    alone = bench.run(replace(scenario, first=number, replications=1))
    assert replication_hashes(bench.run(scenario), number) == replication_hashes(alone, number)


def test_highest_replication_number_can_be_run() -> None:
    scenario = read(SHIPPED[0].with_name("poisoner.toml")).replace(replications=1, record="all", days=9.0)
    kinds = set(bench.run(scenario.replace(first=LAST_REPLICATION)).events["kind"])
    assert "admitted" in kinds
    assert "rejected" not in kinds
    with pytest.raises(ScenarioError, match="out of bounds"):
        scenario.replace(first=LAST_REPLICATION + 1)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_scenario_is_the_same_alone_and_in_a_batch(
    path: Path, replication_hashes: Hashes, unresolved: Unresolved
) -> None:
    scenario = read(path)
    stretched = max(scenario.turn_every, int(scenario.days * DAY) // TURNS)  # at most `TURNS` turns, to save time
    many = bench.run(scenario.replace(replications=2, first=5, turn_every=stretched, record="all"))
    alone = bench.run(scenario.replace(replications=1, first=6, turn_every=stretched, record="all"))
    assert replication_hashes(many, 6) == replication_hashes(alone, 6)
    if isinstance(many.plant, HoldsGraph):  # only a graph memory has the cells that events refer to
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


def test_replications_are_equal_in_another_process(replication_hashes: Hashes) -> None:
    path = SHIPPED[0].with_stem("disobedient_reader")
    whole = bench.run(read(path).replace(days=9.0, replications=4))
    output = subprocess.run(
        [sys.executable, "-c", HASHES, str(path), "2"], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONHASHSEED": "77", "POLARS_MAX_THREADS": "1"},
    ).stdout  # fmt: skip
    late = [getattr(whole, name).filter(pl.col("rep") >= 2) for name in ("cells", "events", "signals", "writers")]
    assert output.strip() == str([digest(frame) for frame in late])
    again = bench.run(read(path).replace(days=9.0, replications=4))
    assert [replication_hashes(again, rep) for rep in range(4)] == [replication_hashes(whole, rep) for rep in range(4)]


LAWS = sorted(name for name in shipped_laws() if not isinstance(plant_of(name), HoldsGraph))
ROOT = Path(__file__).parents[2] / "scenarios"
VOCABULARY = Vocabulary("abcdefghijkl", "xyzw", [["A", "B", "C"]] * 4)
REPS, DAYS = 3, 6
FRAMES = ("cells", "events", "signals")


def stream(seed: int, day: int) -> Claims:
    """Return forty claims on one day by twelve writers; about one claim in ten is verified."""
    draw = np.random.default_rng([seed, day])
    t, rep = np.sort(day + draw.random(40)), draw.choice(REPS, 40, p=[0.1, 0.45, 0.45])
    columns: dict[str, Any] = {
        name: draw.integers(0, size, 40) for name, size in (("writer", 12), ("object", 4), ("value", 3))
    }
    stated = draw.choice([0.3, 0.6, 0.9, np.nan], 40)
    verified = (draw.random(40) < 0.1) & (rep > 0)
    return Claims(rep=rep, t=t, stated=stated, sequence=np.arange(40), verified=verified, **columns)


def of_replication(claims: Claims, rep: int) -> Claims:
    rows = np.flatnonzero(claims.rep == rep)
    names = ("rep", "t", "writer", "sequence", "object", "value", "stated", "verified")
    columns: dict[str, Any] = {name: np.asarray(getattr(claims, name))[rows] for name in names}
    return replace(claims, **(columns | {"rep": columns["rep"] * 0}))


def beliefs_after(name: str, days: list[Claims], reps: int) -> View:
    plant = plant_of(name)
    state: Any = plant.init(range(reps), VOCABULARY)
    for day, claims in enumerate(days):
        state, _ = plant.admit(state, claims)
        state = plant.tick(state, day + 1.0)
        state = plant.read(state, np.arange(reps), np.full(reps, day % 4), np.zeros(0, dtype=np.int64), day + 1.0)
    return plant.view(state, DAYS + 1.0)


@pytest.mark.parametrize("name", LAWS)
@settings(max_examples=1, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_beliefs_of_a_law_are_the_same_alone_and_in_a_batch(name: str, seed: int) -> None:
    days = [stream(seed, day) for day in range(DAYS)]
    among = beliefs_after(name, days, REPS)
    for rep in range(REPS):
        alone = beliefs_after(name, [of_replication(claims, rep) for claims in days], 1)
        rows = np.flatnonzero(among.rep == rep)
        for what in ("rank", "belief", "active"):
            if getattr(among, what) is not None:
                np.testing.assert_array_equal(getattr(among, what)[rows], getattr(alone, what), err_msg=what)
        for what, column in among.columns.items():
            np.testing.assert_array_equal(column[rows], alone.columns[what], err_msg=what)


def differences(scenario: ms.Scenario, replications: int, index: int) -> list[str]:
    """Return the columns whose values differ between a replication in a batch and the same replication alone."""
    number = scenario.first + index
    batch = ms.run(scenario.replace(replications=replications), record="all")
    alone = ms.run(scenario.replace(first=number, replications=1), record="all")
    wrong = []
    for name in FRAMES:
        item, other = getattr(batch, name, None), getattr(alone, name, None)
        if isinstance(item, pl.DataFrame) and isinstance(other, pl.DataFrame) and "rep" in item.columns:
            mine = item.filter(pl.col("rep") == number)
            if mine.height != other.height:
                wrong.append(f"{name}: {mine.height} rows, alone {other.height}")
                continue
            wrong += [f"{name}.{column}" for column in mine.columns if mine[column].ne_missing(other[column]).any()]
    return wrong


@pytest.mark.parametrize("memory", ['effective = "records"', 'effective = "records"\nrecords_tau = "class"'])
def test_records_graph_is_the_same_alone_and_in_a_batch(memory: str, tmp_path: Path) -> None:
    text = (ROOT / "half_colluders.toml").read_text(encoding="utf-8").partition("[[check]]")[0]
    path = tmp_path / "graph.toml"
    path.write_text(text.replace('[memory]\nlaw = "records"\n', f"[rules]\n{memory}\n"), encoding="utf-8")
    assert differences(ms.read(path), 4, 3) == []


@pytest.mark.parametrize("law", ["mal", "recall_v5"])
def test_run_releases_the_memories_of_past_ticks(law: str) -> None:
    """Guard against memory use that grows with the square of the number of days."""

    def memories() -> int:
        gc.collect()
        return sum(isinstance(item, ms.Memory) for item in gc.get_objects())

    before = memories()
    run = ms.run(ROOT / "poisoner.toml", law=law, days=30.0, replications=2)
    assert memories() - before <= 3
    assert run.memory.height > 0
