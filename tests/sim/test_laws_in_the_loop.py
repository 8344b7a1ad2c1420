"""Tests that every shipped scenario without graph settings also runs under laws that have no claim graph."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import malsim as ms
from malsim.base.errors import MalsimError
from malsim.cli import main
from malsim.scenario.file.scenario_file import read
from malsim.sim.settings.memory_law import askable, refuse_graph_settings

SCENARIOS = sorted((Path(__file__).parents[2] / "scenarios").glob("*.toml"))
POISONER = next(path for path in SCENARIOS if path.stem == "poisoner")
# last_write stores one value per object, graphiti's beliefs are 0 or 1, and act_r's ranks are negative
LAWS = ("last_write", "graphiti", "act_r")


def fits(path: Path) -> bool:
    try:
        refuse_graph_settings(read(path).replace(law="last_write"))
    except MalsimError:
        return False
    return True


@pytest.mark.parametrize("path", [path for path in SCENARIOS if fits(path)], ids=lambda path: path.stem)
@pytest.mark.parametrize("law", LAWS)
def test_scenario_runs_under_every_law(path: Path, law: str) -> None:
    scenario = read(path)
    short = {"replications": min(scenario.replications, 3), "days": min(scenario.days, 10.0), "record": "all"}
    run = ms.run(scenario.replace(law=law, **short))
    assert run.cells["rank"].null_count() == 0
    assert run.cells["calibration"].null_count() == run.cells.height
    assert run.writers.is_empty()
    believed = run.cells["effective"].null_count() < run.cells.height
    assert believed == (law == "graphiti") or run.cells.is_empty()
    assert {"brier", "ece"} & set(run.metrics()["metric"]) == ({"brier", "ece"} if believed and scenario.facts else set())


def test_check_without_a_value_is_skipped_or_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, left_out = askable(read(POISONER).replace(law="graphiti"))
    assert left_out
    assert main(["run", str(POISONER), "--law", "graphiti", "-o", str(tmp_path), "--replications", "2"]) == 0
    value = capsys.readouterr().err
    assert [line for line in value.splitlines() if line.startswith("skipped")] == left_out
    assert "graphiti keeps no record of writers: writer(poisoner-1)-calibration" in value
    assert (tmp_path / "effective.png").is_file()
    assert main(["test", str(POISONER), "--law", "graphiti"]) == 2
    assert "writer(honest-1)-calibration" in capsys.readouterr().out


def test_manifest_records_law_and_parameters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--law", "membrane", "--set", "law.half_life=3", "-o", str(tmp_path), "--no-plots", "--replications", "1"]
    assert main(["run", str(POISONER), *arguments]) == 0
    assert main(["run", "--manifest", str(tmp_path / "manifest.json")]) == 0
    assert '"half_life": 3.0' in (tmp_path / "manifest.json").read_text(encoding="utf-8")
    assert "all the same" in capsys.readouterr().out


@pytest.mark.parametrize(("name", "feature"), [("quorum_of_writers", "address"), ("addf_order", "address")])
def test_graph_settings_are_refused_under_other_laws(name: str, feature: str) -> None:
    scenario = next(path for path in SCENARIOS if path.stem == name)
    with pytest.raises(MalsimError, match=f"graphiti has no claim graph.*{feature}"):
        ms.run(scenario, law="graphiti")


def test_tie_between_two_values_counts_as_one_half() -> None:
    run = ms.run(POISONER, law="mem0_additive", replications=2, days=20.0)
    right = run.signals.filter(pl.col("signal") == "right")["value"].to_numpy()
    assert np.isin(right, [0.0, 0.5, 1.0]).all()
    assert (right == 0.5).any()
