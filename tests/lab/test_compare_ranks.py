"""Laws side by side on scenarios: places as far as replications tell them apart, and replications until they do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from malsim.cli import main
from malsim.lab.studies.laws import compare_on_scenarios
from malsim.lab.studies.paired_ranking import rank
from malsim.scenario.file.scenario_file import read
from malsim.sim import bench
from malsim.sim.record.metrics import by_replication

if TYPE_CHECKING:
    from malsim.lab.studies.laws import LawTable

SCENARIO = Path(__file__).parents[2] / "scenarios" / "poisoner.toml"
SHORT = read(SCENARIO).replace(days=20.0)


def table(laws: list[str], **settings: object) -> LawTable:
    return compare_on_scenarios([SHORT], laws, metrics=["accuracy"], **settings)  # type: ignore[arg-type]


def test_places_are_those_that_a_law_may_have() -> None:
    rows = {row["law"]: row for row in table(["majority", "last_write", "crh"], replications=8).frame.to_dicts()
            if row["metric"] == "accuracy"}  # fmt: skip
    assert (rows["majority"]["rank"], rows["crh"]["rank"], rows["last_write"]["rank"]) == ("1 to 2", "1 to 2", "3")
    assert rows["majority"]["difference"] is None
    assert rows["last_write"]["difference_high"] < 0.0
    assert rows["crh"]["difference_low"] <= 0.0 <= rows["crh"]["difference_high"]


def test_replications_are_added_until_one_law_alone_may_be_first() -> None:
    decided = table(["majority", "last_write"], replications=4, decide=True, most=64)
    replications = decided.frame["n"][0]
    assert replications in (4, 8, 16, 32, 64)
    assert decided.frame.filter(metric="accuracy")["rank"].to_list() == ["1", "2"]
    plain = table(["majority", "last_write"], replications=replications)
    assert decided.frame["value"][0] == plain.frame["value"][0]  # the same replications, run in pieces
    assert "majority" in repr(decided)


def test_what_is_the_same_in_every_replication_is_not_sought_further() -> None:
    graph = compare_on_scenarios([SHORT], ["default", "mal"], metrics=["accuracy"], replications=2, decide=True)
    assert graph.frame["n"][0] == 2
    assert graph.frame.filter(metric="accuracy")["rank"].to_list() == ["1 to 2", "1 to 2"]


def test_the_command_says_ranks(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--laws", "majority,last_write", "--replications", "2", "--metric", "accuracy", "--decide", "--most", "4"]
    assert main(["compare", str(SCENARIO), *options, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert next(row["rank"] for row in rows if row["metric"] == "accuracy").startswith("1")
    assert [row["n"] for row in rows if row["metric"] == "accuracy"] == [4, 4]  # two show nothing of the first place


@pytest.mark.nightly
def test_differences_and_places_of_laws_hold_at_once() -> None:
    names, blocks, size = ("mal", "majority", "last_write", "crh", "records", "average", "graphiti", "fsrs"), 100, 8
    scenario = read(SCENARIO).replace(seed=91_000, record="bands", replications=blocks * size)
    values = {name: by_replication(bench.run(scenario.replace(law=name)))["accuracy"] for name in names}
    means = {name: float(each.mean()) for name, each in values.items()}
    held = 0
    for block in range(blocks):
        table = rank({name: each[block * size : (block + 1) * size] for name, each in values.items()})
        gaps = {name: table.difference(name, "mal") for name in names[1:]}
        places = dict(zip(table.names, table.ranks, strict=True))
        held += all(
            low - 1e-9 <= means[name] - means["mal"] <= high + 1e-9 for name, (_, low, high) in gaps.items()
        ) and all(
            places[name][0] <= 1 + sum(other > mean for other in means.values()) <= places[name][1]
            for name, mean in means.items()
        )
    assert held / blocks >= 0.95 - 3.0 * np.sqrt(0.95 * 0.05 / blocks)
