"""A replication alone is that replication of its batch, bit for bit: every law on dense streams, every shipped scenario."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import malsim as ms
from malsim.laws import plant_of, shipped_laws
from malsim.memory.port import Claims, HoldsGraph, View, Vocabulary
from malsim.scenario.file.scenario_file import holds_rules_alone

LAWS = sorted(name for name in shipped_laws() if not isinstance(plant_of(name), HoldsGraph))
ROOT = Path(__file__).parents[2] / "scenarios"
SHIPPED = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.toml") if not holds_rules_alone(path))
SAMPLE = ["half_colluders.toml", "mutual_dispute.toml", "quorum_of_writers.toml"]
VOCABULARY = Vocabulary("abcdefghijkl", "xyzw", [["A", "B", "C"]] * 4)
REPS, DAYS = 3, 6
FRAMES = ("cells", "events", "signals")


def stream(seed: int, day: int) -> Claims:
    """Forty claims of a day by twelve writers, a few of them verified; the first replication has fewest, none verified."""
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
def test_law_gives_same_beliefs_alone_and_in_a_batch(name: str, seed: int) -> None:
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


def differences(scenario: ms.Scenario, replications: int, place: int) -> list[str]:
    """Which columns of a run's frames differ between a batch of replications and one of them alone."""
    number = scenario.first + place
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
