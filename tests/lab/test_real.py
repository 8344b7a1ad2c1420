"""Answers to real claims: equal to a replay's under any rules, and better than the majority's under tuned rules."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from malsim.lab.studies.laws.claims import answers_on_claims, read_folder
from malsim.lab.studies.real import halves, read_real
from malsim.memory import Rules
from malsim.sim.replay.feed import replay
from malsim.sim.writers.engine.claim_files import read_claims, read_truth

DATA = Path(__file__).parents[3] / "shared" / "data"
LAWS = {
    "default": Rules(),
    "light": Rules(weight_supports=0.2, weight_contradicts=0.3, calibration="none"),
    "high": Rules(support_ceiling=0.8, challenge_ceiling=0.4, calibration="brier"),
    "stated": Rules(mass_from="stated", weight_contradicts=0.5),
}


def folder(path: Path, *, dated: bool = False, objects: int = 12, writers: int = 6) -> Path:
    draws = np.random.default_rng(4)
    true = draws.integers(0, 2, objects)
    skill = draws.uniform(0.5, 0.95, writers)
    rows = ["time,writer,object,value,stated_confidence"]
    for day in range(2 if dated else 1):
        for o in range(objects):
            for w in range(writers):
                value = true[o] if draws.random() < skill[w] else 1 - true[o]
                rows.append(f"{10 * day + w if dated else ''},w{w},o{o},v{value},{draws.uniform(0.3, 1.0):.2f}")
    path.mkdir(exist_ok=True)
    (path / "claims.csv").write_text("\n".join(rows) + "\n")
    lines = [f"o{o},v{true[o]},{8 if o % 2 else 30}" if dated else f"o{o},v{true[o]}," for o in range(objects)]
    (path / "truth.csv").write_text("object,value,valid_from\n" + "\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("law", list(LAWS))
@pytest.mark.parametrize("dated", [False, True])
def test_answers_match_a_replay_under_the_same_rules(tmp_path: Path, law: str, *, dated: bool) -> None:
    real = read_real(folder(tmp_path, dated=dated))
    stream = read_claims(tmp_path / "claims.csv")
    truth = read_truth(tmp_path / "truth.csv", epoch=stream.epoch)
    answers = replay(stream.claims, truth, rules=LAWS[law]).answers.filter(pl.col("right").is_not_null())
    both = real.answers(LAWS[law]).join(answers, on="object", suffix="_told")
    assert both.height == 12
    np.testing.assert_allclose(both["probability"], both["probability_told"], atol=2e-3)
    assert both["right"].to_list() == both["right_told"].to_list()


def test_halves_do_not_overlap_and_do_not_depend_on_order() -> None:
    objects = pl.Series([f"o{number}" for number in range(101)])
    first, second = halves(objects, seed=3)
    assert (len(first), len(second)) == (51, 50)
    assert sorted([*first, *second]) == sorted(objects)
    assert halves(objects.reverse(), seed=3)[0].to_list() == first.to_list()
    assert halves(objects, seed=4)[0].to_list() != first.to_list()


@pytest.mark.skipif(not DATA.is_dir(), reason="the shared claims are not next to this checkout")
def test_tuned_law_beats_defaults_on_held_out_objects() -> None:
    laws = {"default": Rules(), "tuned": Rules.read("scenarios/rules/tuned_on_claims.toml")}
    scores: dict[tuple[str, str], float] = {}
    for path in (DATA / "zencrowd_us", DATA / "snow_rte"):
        real, (claims, truth) = read_real(path), read_folder(path, on_bad_rows="skip")
        objects = halves(real.objects, seed=0)[1]
        answers = {name: real.answers(rules, objects) for name, rules in laws.items()}
        held_out = truth.filter(pl.col("object").is_in(objects.implode()))
        for name, frame in (answers | answers_on_claims(claims, held_out, ["majority"])[1]).items():
            right = frame["right"].cast(pl.Float64)
            for metric, values in (("accuracy", right), ("brier", (frame["probability"] - right) ** 2)):
                scores[name, metric] = scores.get((name, metric), 0.0) + float(values.to_numpy().mean())
    for law in ("default", "majority"):
        assert scores["tuned", "accuracy"] > scores[law, "accuracy"]
        assert scores["tuned", "brier"] < scores[law, "brier"]
