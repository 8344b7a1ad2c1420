"""Tests of standing signals: cases and near misses, the scorecard, caching, and commands."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from malsim import api
from malsim.base.errors import MalsimError, UsageError
from malsim.cli import main
from malsim.memory import Memory
from malsim.netlist import parse
from malsim.netlist.engine import Engine, State
from malsim.netlist.shipped import catalogue, readings, signal_named, signals_text
from malsim.netlist.wiring import link
from tests.netlist.standing.cases import CASES, ONSET
from tests.netlist.standing.scorecard import first_firings, of_case, scorecard
from tests.netlist.standing.streams import merged, ordinary, play

if TYPE_CHECKING:
    from pathlib import Path


def test_every_signal_has_a_test_case() -> None:
    assert set(CASES) == set(catalogue())
    assert {item.display for item in catalogue().values()} == {"surfaced", "silent"}


def test_all_signals_link_together_without_conflicts() -> None:
    assert len(link(parse(signals_text(catalogue()))).derived) > len(catalogue())


@cache
def first() -> dict[tuple[str, bool], int | None]:
    cases = {(name, benign): of_case(name, benign=benign) for name in CASES for benign in (False, True)}
    return dict(zip(cases, first_firings(list(cases.values()), days=ONSET + 8), strict=True))


@pytest.mark.parametrize("name", CASES)
def test_signals_fire_on_cases_and_not_on_near_misses(name: str) -> None:
    day = first()[name, False]
    assert day is not None
    assert day >= ONSET
    assert first()[name, True] is None


def test_scorecard_has_delays_misses_and_false_alarms() -> None:
    for row in scorecard(["contradiction-load", "dependency-rot"], seeds=2, quiet=2, first_seed=40).to_dicts():
        assert row["fires"]
        assert row["silent"]
        assert (row["delay"], row["misses"]) == (0.0, 0.0)
        assert min(row["delay_high"], row["misses_high"]) > 0.6  # two streams give only wide intervals
        assert row["arl0_low"] <= row["arl0"]


def test_caching_between_scans_changes_no_result() -> None:
    """After each change, compare an engine that caches values with a new engine."""
    net, streams = link(parse(signals_text(catalogue()))), [merged(ordinary(1, ONSET), CASES["local-cluster-density"].fault)]
    keeping = Engine(net)
    state = keeping.start(Memory.empty())

    def same(memory: Memory, day: float) -> State:
        again, fresh = (engine.scan(state, memory, now=day).state for engine in (keeping, Engine(net)))
        for signal, values in fresh.signals.items():
            np.testing.assert_array_equal(again.signals[signal], values, err_msg=f"{signal} on day {day}")
        return again

    for day, memory in play(streams, ONSET + 1):
        state = same(memory, float(day))
    rows, changes = np.arange(0, memory.height, 3), {"stated": 0.31, "verification": "tested", "read": 9.5, "pinned": True}
    for name, value in {**changes, "status": "annexed"}.items():
        memory = memory.changed(rows, {name: value})
        same(memory, ONSET + 1.0)


def test_evaluating_signals_does_not_change_the_memory() -> None:
    case = CASES["contradiction-load"]
    *_, (day, memory) = play([merged(ordinary(1, ONSET + 2), case.start or {}, case.fault)], ONSET + 2)
    before = memory.cells
    by_name = {item.signal.name: item for item in readings(memory, ["contradiction-load", "triage-rank"], now=float(day))}
    assert memory.cells.equals(before)
    assert by_name["contradiction-load"].highest[0][0] == case.target


def test_unknown_signal_suggests_a_similar_name() -> None:
    with pytest.raises(UsageError, match="dependency-rot"):
        signal_named("dependency-rott")


SCENARIO = """why = "Doubt comes on the second day."
[run]
days = 6

[netlist]
signals = ["contradiction-load", "time-to-stale"]

[derive]
cell-doubt = "div(cell-challenge_mass,add(cell-challenge_mass,cell-support_mass))"

[[claim]]
at = "0d"
writer = "ann"
handle = "dec_a3ee"
title = "use SQLite"
confidence = 0.9

[[claim]]
at = "2d"
writer = "bob"
handle = "obs_b0b1"
title = "it locked"
confidence = 1.0
verification = "external"
edges = [{ relation = "contradicts", target = "dec_a3ee" }]
"""


def test_scenario_evaluates_named_signals_and_derived_values(tmp_path: Path) -> None:
    (tmp_path / "it.toml").write_text(SCENARIO)
    signals = api.run(tmp_path / "it.toml").signals
    assert {"contradiction-load.disputed", "time-to-stale.fires", "derive.cell-doubt"} <= set(signals["signal"])
    doubts = signals.filter((pl.col("signal") == "derive.cell-doubt") & (pl.col("row") == "dec_a3ee"))
    assert doubts["value"].max() == 1.0


@pytest.mark.parametrize(
    ("was", "given", "problem"),
    [
        ("time-to-stale", "time-to-rust", "no such standing signal"),
        ("cell-challenge_mass,add", "cell-derived-doubt,add", "depends on itself"),
    ],
)
def test_scenario_errors_about_signals_name_the_problem(tmp_path: Path, was: str, given: str, problem: str) -> None:
    (tmp_path / "it.toml").write_text(SCENARIO.replace(was, given))
    with pytest.raises(MalsimError, match=problem):
        api.read(tmp_path / "it.toml")


def test_charter_write_tick_and_signals_commands_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = str(tmp_path / "m.sqlite")

    def output_of(*words: str, code: int = 0) -> str:
        group = [] if words[0] == "signals" else ["store"]
        assert main([*group, words[0], store, *words[1:]]) == code
        return capsys.readouterr().out

    assert output_of("charter").startswith("objective: ")
    assert "written as obj_" in output_of("charter", "--answer", "keep the pumps running", "--writer", "ann")
    assert output_of("charter").startswith("constraints: ")
    assert "keep the pumps running" in output_of("charter", "--list")
    claim = ["--writer", "ann", "--title", "pump 3 runs", "--confidence", ".8", "--source", "log:41"]
    assert "admitted as obs_" in output_of("write", *claim)
    claim = ["--writer", "bob", "--title", "no", "--confidence", ".7", "--edge", "contradicts nobody"]
    assert "no such cell" in output_of("write", *claim, code=1)
    assert output_of("tick", "--signals", "time-to-stale").startswith("day 1: ")
    assert output_of("signals").count(" fires on ") == len(catalogue())
    assert main(["signals"]) == 0
    assert "dependency-rot" in capsys.readouterr().out
    assert main(["signals", "dependency-rott"]) == 2
