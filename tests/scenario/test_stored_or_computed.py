"""Tests that in each stored-or-computed scenario the law named in the manual is right more often, on fresh seeds."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from malsim.lab.studies.laws import compare_on_scenarios
from malsim.scenario.file.scenario_file import read

FOLDER = Path(__file__).parents[2] / "scenarios" / "stored_or_computed"
BETTER = {"unsure_liar": "stored_score", "ring": "stored_score", "surer_liar": "mal", "news": "mal", "turned": "mal"}


@pytest.mark.parametrize("name", BETTER)
def test_law_recommended_by_the_manual_is_more_accurate(name: str) -> None:
    scenario = read(FOLDER / f"{name}.toml").replace(seed=9, days=40.0)
    table = compare_on_scenarios([scenario], ["mal", "stored_score"], metrics=["accuracy"], replications=16)
    row = table.frame.filter(pl.col("metric") == "accuracy", pl.col("law") == "stored_score").row(0, named=True)
    assert (row["difference"] > 0) == (BETTER[name] == "stored_score")


def test_every_scenario_in_the_folder_has_an_expected_law() -> None:
    assert {path.stem for path in FOLDER.glob("*.toml")} == set(BETTER)
