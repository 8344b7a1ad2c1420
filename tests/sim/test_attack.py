"""How a memory stands an attack: each figure on a story told by hand, against the run's own signals, and refusals."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import polars as pl
import pytest

import malsim as ms
from malsim.cli import main
from malsim.sim.record.change_scores import AttackScores
from malsim.sim.record.metrics import by_replication
from malsim.sim.world.correction import Attack

FOLDER = Path(__file__).parents[2] / "scenarios/poisoning"
FIGURES = ["attack_success", "attack_marked", "honest_lost", "recovery"]


def told(days: list[tuple[float | None, float | None, bool]]) -> dict[str, float]:
    """A fact under attack from day 2 to 5 and one that is not, a tick a day: right, wrong or silent each, a mark or none."""
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


def test_scores_of_a_short_story_match_hand_computation() -> None:
    days = [
        (1, 1, False),
        (1, 1, False),
        (0, 1, True),
        (0, 0, False),
        (None, 1, False),
        (0, 1, False),
        (0, 1, False),
        (1, 1, False),
    ]
    figures = told(cast("Any", days))
    assert figures["attack_success"] == pytest.approx(2 / 3)  # silence is no lie
    assert figures["attack_marked"] == pytest.approx(1 / 2)
    assert figures["honest_lost"] == pytest.approx(1 / 10)  # before the attack x counts among the others
    assert figures["recovery"] == pytest.approx(2.0)


def test_facts_that_never_recover_are_censored_at_the_end() -> None:
    assert np.isnan(told(cast("Any", [(1, 1, False)] * 5 + [(0, 1, False)] * 3))["recovery"])


@pytest.mark.parametrize("rules", ["guarded", "default"])
def test_attack_success_matches_the_recorded_signals(rules: str) -> None:
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
def test_attack_without_a_fact_or_time_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: str, says: str
) -> None:
    text = (FOLDER / "direct.toml").read_text(encoding="utf-8")
    head, _, rest = text.partition("[attack]\n")
    path = tmp_path / "attack.toml"
    path.write_text(f"{head}[attack]\n{change}\n\n[[facts]]{rest.partition('[[facts]]')[2]}", encoding="utf-8")
    assert main(["run", str(path)]) == 2
    assert says in capsys.readouterr().err


def test_guarded_rules_withstand_an_attack_that_sways_default() -> None:
    scenario = ms.read(FOLDER / "direct.toml").replace(replications=10)
    guarded, default = (
        by_replication(ms.run(scenario.replace(rules=ms.Rules.read(name), seed=977)))["attack_success"].mean()
        for name in ("guarded", "default")
    )
    assert guarded <= 0.02
    assert default >= 0.15
