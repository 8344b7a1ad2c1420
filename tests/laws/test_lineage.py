"""Writers of one lineage: common errors, metrics, and their combined weight under the law `records`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malsim import api
from malsim.base.errors import LawError, ScenarioError, UsageError
from malsim.cli import main
from malsim.lab.studies.measure import measured
from malsim.laws import plant_of
from malsim.memory.port import Claims, Vocabulary
from malsim.sim import bench
from malsim.sim.record.metrics import by_replication
from malsim.sim.settings.population import Population

if TYPE_CHECKING:
    from malsim.sim.run import Run
    from malsim.sim.settings.scenario import Scenario

SCENARIOS = Path(__file__).parents[2] / "scenarios"
KIN = ["", "m", "m", "", "n", "n"]
AS_ONE = [0, 1, 1, 3, 4, 4]


def believed(claims: Any, lineages: list[str], **given: str) -> dict[tuple[int, int], float]:
    words = Vocabulary(list("abcdef"), list("uvwxyz"), [["no", "yes", "so"]] * 6, lineages)
    memory = plant_of("records", given)
    state, _ = memory.admit(memory.init([0], words), claims)
    view = memory.view(memory.tick(state, 10.0), 10.0)
    assert view.belief is not None
    rows = np.flatnonzero(view.active)
    return {(int(view.object[row]), int(view.value[row])): float(view.belief[row]) for row in rows}


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.1]))
@settings(max_examples=20, deadline=None)
def test_lineage_counts_as_one_writer_if_configured(seed: int, pins: float) -> None:
    draw, size = np.random.default_rng(seed), 50
    columns: Any = {name: draw.integers(0, high, size) for name, high in (("writer", 6), ("object", 6), ("value", 3))}
    claims: Any = Claims(
        rep=np.zeros(size, dtype=np.int64), t=np.sort(draw.uniform(0, 9, size)), sequence=np.arange(size), **columns,
        stated=draw.choice([0.6, 0.9, np.nan], size), verified=draw.random(size) < pins,
    )  # fmt: skip
    merged = replace(claims, writer=np.array(AS_ONE)[claims.writer])
    if not pins:  # a writer can replace its own verified claim, but not one by another writer of its lineage
        item, same = believed(claims, KIN, lineage="one"), believed(merged, [])
        assert {key: item[key] for key in same} == pytest.approx(same, abs=1e-9)
    assert believed(claims, KIN) == believed(claims, []) == believed(claims, [], lineage="one")


def test_unknown_lineage_form_is_refused() -> None:
    indices: Any = {name: np.zeros(1, dtype=np.int64) for name in ("rep", "t", "writer", "sequence", "object", "value")}
    claims = Claims(**indices, stated=np.ones(1))
    with pytest.raises(LawError, match="no such option"):
        believed(claims, KIN, lineage="two")
    with pytest.raises(ScenarioError, match="'alike' needs a lineage"):
        Population(behaviour="honest", alike=0.5)


def given_model(**changes: Any) -> Scenario:
    scenario = api.read(SCENARIOS / "one_model.toml").replace(days=12.0, replications=4, record="all")
    people, model = scenario.writers
    return scenario.replace(writers=(people, replace(model, **changes)))


def claims_of(run: Run) -> pl.DataFrame:
    cells = run.memory.cells.filter(pl.col("writer").str.starts_with("instance"))
    return cells.group_by("rep", "object").agg(pl.col("value").n_unique())


def test_common_errors_of_a_lineage_do_not_change_its_accuracy() -> None:
    assert claims_of(bench.run(given_model(alike=1.0)))["value"].max() == 1
    assert claims_of(bench.run(given_model(alike=0.0)))["value"].mean() > 2  # type: ignore[operator]  # of three
    right = []
    for alike in (0.0, 1.0):
        cells = bench.run(given_model(alike=alike, count=1).replace(replications=60)).cells
        here = cells.filter(pl.col("cell").str.contains("instance") | (pl.col("t") == 12.0))
        right.append(here["truth"].mean())
    assert right[0] == pytest.approx(right[1], abs=0.05)


def test_records_lineage_apart_adds_only_a_column_and_metrics() -> None:
    plain, named = (bench.run(given_model(alike=0.0, lineage=kin).replace(rules=given_model().rules.replace(
        records_lineage="apart"))) for kin in ("", "model-a"))  # fmt: skip
    assert named.cells.equals(plain.cells)
    assert named.events.equals(plain.events)
    assert named.writers.drop("lineage").equals(plain.writers)
    kin = named.writers.select("writer", "lineage").unique().drop_nulls()
    assert sorted(kin["writer"].to_list()) == [f"instance-{n}" for n in range(1, 9)]
    assert set(kin["lineage"].to_list()) == {"model-a"}
    item, other = by_replication(plain), by_replication(named)
    assert set(other) - set(item) == {"echo_share_by_lineage", "voices_per_answer", "lineages_per_answer"}
    assert (other["lineages_per_answer"] <= other["voices_per_answer"]).all()
    assert (other["lineages_per_answer"] >= 1.0).all()


def test_file_of_claims_may_have_lineages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, truth = tmp_path / "claims.csv", tmp_path / "truth.csv"
    lines = [f"w{n},q{q},{'yes' if n < 4 else 'no'},{'m' if n < 4 else ''}" for q in range(8) for n in range(6)]
    path.write_text("\n".join(["writer,object,value,lineage", *lines]), encoding="utf-8")
    truth.write_text("\n".join(["object,value", *(f"q{q},no" for q in range(8))]), encoding="utf-8")
    right = {}
    for lineage in ("apart", "one"):
        options = ["--truth", str(truth), "--laws", "records", "--set", f"law.lineage={lineage}", "--json"]
        assert main(["compare", str(path), *options]) == 0
        right[lineage] = json.loads(capsys.readouterr().out)["accuracy"]
    assert right == {"apart": 0.0, "one": 1.0}


def test_accuracy_metric_accepts_the_name_of_a_fact(capsys: pytest.CaptureFixture[str]) -> None:
    scenario = api.read(SCENARIOS / "laundering.toml").replace(days=10.0, replications=3)
    run = bench.run(scenario)
    names = ("alone", "summary", "echo", "corroborated")
    answers = run.signals.filter(pl.col("signal") == "right").with_columns(pl.col("row").str.head(-2))
    counts = [answers.filter(row=name).group_by("rep").len().sort("rep")["len"].to_numpy() for name in names]
    parts = [measured(run, f"accuracy of {name}") * count for name, count in zip(names, counts, strict=True)]
    assert sum(parts) / sum(counts) == pytest.approx(by_replication(run)["accuracy"])
    with pytest.raises(UsageError, match="no such fact"):
        measured(run, "accuracy of nothing")
    words = ["compare", str(SCENARIOS / "one_model.toml"), "--laws", "records", "--metric", "accuracy of claim",
            "--replications", "2", "--seed", "5"]  # fmt: skip
    assert main(words) == 0
    assert "accuracy of claim" in capsys.readouterr().out
