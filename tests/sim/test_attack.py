"""Tests of attack scores on short examples and in runs, and of false claims laundered through other writers."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import polars as pl
import pytest

import malsim as ms
from malsim.cli import main
from malsim.scenario.file.scenario_file import read
from malsim.sim import bench
from malsim.sim.record.change_scores import AttackScores
from malsim.sim.record.metrics import by_replication
from malsim.sim.world.correction import Attack

FOLDER = Path(__file__).parents[2] / "scenarios/poisoning"
FIGURES = ["attack_success", "attack_marked", "honest_lost", "recovery"]


def figures_of(days: list[tuple[float | None, float | None, bool]]) -> dict[str, float]:
    """Return the scores of an attack on fact `x` from day 2 to day 5; fact `y` is not attacked."""
    scores = AttackScores(Attack(facts=("x",), start=2 * 86_400_000, end=5 * 86_400_000), ["x", "y"], 1)
    for day, (x, y, mark) in enumerate(days):
        right = np.array([[np.nan if item is None else item] for item in (x, y)])
        snapshot = SimpleNamespace(
            speaking=np.array([0, 1]),
            cell_index=SimpleNamespace(fact=np.array([0, 1]), rep=np.array([0, 0])),
            worth=np.array([0.9, 0.9]),
            view=SimpleNamespace(marked=lambda rows, _, mark=mark: np.full(len(rows), mark)),
        )
        scores.add(float(day), right, np.array([[[0.9], [0.9]], [[0.1], [0.1]]]), cast("Any", snapshot))
    scores.close(float(len(days)))
    return {name: float(value[0]) for name, value in scores.figures().items()}


def test_attack_scores_match_hand_computed_values() -> None:
    answers = [(1, 1), (1, 1), (0, 1), (0, 0), (None, 1), (0, 1), (0, 1), (1, 1)]
    figures = figures_of(cast("Any", [(*pair, day == 2) for day, pair in enumerate(answers)]))
    assert figures["attack_success"] == pytest.approx(2 / 3)  # a missing answer does not count as false
    assert figures["attack_marked"] == pytest.approx(1 / 2)
    assert figures["honest_lost"] == pytest.approx(1 / 10)  # before the attack, x counts as an honest fact
    assert figures["recovery"] == pytest.approx(2.0)


def test_fact_that_never_recovers_has_no_recovery_time() -> None:
    assert np.isnan(figures_of(cast("Any", [(1, 1, False)] * 5 + [(0, 1, False)] * 3))["recovery"])


@pytest.mark.parametrize("rules", ["guarded", "default"])
def test_attack_success_matches_recorded_signals(rules: str) -> None:
    scenario = ms.read(FOLDER / "sleeping.toml").replace(replications=4, rules=ms.Rules.read(rules))
    run = ms.run(scenario)
    right = run.signals.filter(pl.col("t").is_between(20.0, 40.0, closed="left"), pl.col("row").str.starts_with("target"))
    lies = right.group_by("rep").agg((pl.col("value") == 0.0).sum()).sort("rep")["value"].to_numpy()
    figures = by_replication(run)
    assert np.array_equal(figures["attack_success"], lies / 40)
    alone = by_replication(ms.run(scenario.replace(first=2, replications=1)))
    for name in FIGURES:
        assert np.array_equal(alone[name], figures[name][2:3], equal_nan=True), name


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ('facts = ["target-3"]', "no such fact; given: 'target-3'"),
        ('from = "40d"\nto = "20d"', "attack.to"),
        ('from = "90d"', "attack.from"),
    ],
)
def test_attack_without_fact_or_time_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: str, says: str
) -> None:
    text = (FOLDER / "direct.toml").read_text(encoding="utf-8")
    head, _, rest = text.partition("[attack]\n")
    path = tmp_path / "attack.toml"
    path.write_text(f"{head}[attack]\n{change}\n\n[[facts]]{rest.partition('[[facts]]')[2]}", encoding="utf-8")
    assert main(["run", str(path)]) == 2
    assert says in capsys.readouterr().err


def test_attack_succeeds_only_under_default_rules() -> None:
    scenario = ms.read(FOLDER / "direct.toml").replace(replications=10)
    guarded, default = (
        by_replication(ms.run(scenario.replace(rules=ms.Rules.read(name), seed=977)))["attack_success"].mean()
        for name in ("guarded", "default")
    )
    assert guarded <= 0.02
    assert default >= 0.15


LAUNDERING = Path(__file__).parents[2] / "scenarios" / "laundering.toml"
FRESH = 91


def told_right(law: str) -> dict[str, float]:
    """Return the share of right answers after day 20, keyed by how the false claim spreads, such as `alone` or `echo`."""
    made = read(LAUNDERING).replace(law=law, seed=FRESH, replications=6)
    late = bench.run(made).signals.filter((pl.col("t") > 20.0) & (pl.col("signal") == "right"))
    by = late.group_by(pl.col("row").str.split("-").list.first()).agg(pl.col("value").mean())
    return dict(by.iter_rows())


@pytest.mark.parametrize("law", ["mal", "majority", "last_write", "truthfinder", "mem0_update"])
def test_laundering_succeeds_under_five_laws(law: str) -> None:
    right = told_right(law)
    assert right["alone"] > 0.3
    for way in ("summary", "echo", "corroborated"):
        assert right[way] < right["alone"] - 0.1


def test_laundered_summaries_have_origin_edges_but_echoes_do_not() -> None:
    run = bench.run(read(LAUNDERING).replace(replications=1, days=20.0))
    writer = run.memory.cells["writer"]
    edges = run.memory.edges.select("relation", writer=writer.gather(run.memory.edges["source"]))
    relations = edges.filter(pl.col("writer").str.starts_with("summary")).select("writer", "relation").unique().rows()
    assert {relation for writer, relation in relations if writer != "summary-1"} >= {"derived_from"}
    assert "derived_from" not in {relation for writer, relation in relations if writer == "summary-1"}
    echoed = edges.filter(pl.col("writer").str.starts_with("echo"))["relation"].unique().to_list()
    assert set(echoed) <= {"supersedes"}
