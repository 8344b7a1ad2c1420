"""Tests for laws applied to recorded claims: queries, ties, the published table, and tuned rules on held-out objects."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from malsim.base.errors import UsageError
from malsim.cli import main
from malsim.lab.studies.laws import compare_on_claims, read_folder
from malsim.lab.studies.laws.claims import answers_on_claims
from malsim.lab.studies.laws.stream import questions_of
from malsim.lab.studies.real import halves, read_real
from malsim.memory import Rules
from malsim.sim.replay.feed import replay
from malsim.sim.writers.engine.claim_files import read_claims, read_truth

DATA = Path(__file__).parents[3] / "shared" / "data"
HEADLINE = {  # accuracy on clean claims, on values that return, and on claims with 30 % gossip
    "last_write": (1.0, 1.0, 0.702),
    "memex": (1.0, 1.0, 0.702),
    "engram": (1.0, 1.0, 0.702),
    "mma": (1.0, 1.0, 0.702),
    "agentmemory_lessons": (1.0, 1.0, 0.702),
    "hindsight": (1.0, 1.0, 0.702),
    "mem0_update": (1.0, 1.0, 0.702),
    "graphiti": (0.989, 0.039, 0.989),
    "caura": (0.989, 0.039, 0.989),
    "records": (1.0, 1.0, 0.693),
    "fsrs": (0.974, 0.987, 0.787),
    "mem0_delete": (0.432, 0.526, 0.290),
    "generative_agents_code": (0.003, 0.224, 0.003),
}
STORY = [(0.0, "h", "x", "A"), (10.0, "h", "x", "B"), (20.0, "h", "x", "A"), (0.0, "h", "y", "C"), (10.0, "h", "y", "D")]


def story() -> pl.DataFrame:
    frame = pl.DataFrame(STORY, schema=["time", "writer", "object", "value"], orient="row")
    return frame.with_row_index("line", offset=2).with_columns(confidence=0.7)


def truths() -> pl.DataFrame:
    return story().select("object", "value", asked="time")


def value(frame: pl.DataFrame, law: str, metric: str) -> float:
    return float(frame.filter((pl.col("law") == law) & (pl.col("metric") == metric))["value"].item())


def test_first_and_repeated_values_are_not_changes() -> None:
    twice = pl.concat([truths(), truths()]).sort("object", "asked")
    assert questions_of(twice, ask=1.0).equals(questions_of(truths(), ask=1.0))
    assert questions_of(truths(), ask=1.0).height == 3


def test_tie_is_scored_as_a_random_choice() -> None:
    """Two writers claim two values, so the accuracy is 0.5 and the Brier score is that of a coin toss."""
    claims = pl.concat([story(), story().with_columns(writer=pl.lit("g"), value=pl.lit("E"))])
    frame = compare_on_claims(claims, truths(), ["majority"], ask_after=1.0).frame
    assert value(frame, "majority", "accuracy") == 0.5
    assert value(frame, "majority", "brier") == pytest.approx(0.25)


def test_law_that_never_restores_a_value_misses_returned_values() -> None:
    frame = compare_on_claims(story(), truths(), ["last_write", "graphiti"], ask_after=1.0).frame
    assert value(frame, "last_write", "returned") == 1.0
    assert value(frame, "graphiti", "returned") == 0.0
    assert value(frame, "graphiti", "accuracy") == pytest.approx(2 / 3)


def test_answer_with_two_tied_values_scores_one_half() -> None:
    frame = compare_on_claims(story(), truths(), ["mem0_additive"], ask_after=1.0).frame
    assert value(frame, "mem0_additive", "accuracy") == pytest.approx(0.5)


def test_claims_made_at_query_time_are_excluded() -> None:
    frame = compare_on_claims(story(), truths(), ["last_write"], ask_after=0.0).frame
    assert value(frame, "last_write", "accuracy") == 0.0


def test_unknown_writer_is_refused() -> None:
    with pytest.raises(UsageError, match="no such writer"):
        compare_on_claims(story(), truths(), ["last_write"], without=["nobody"])


def test_command_prints_rows_and_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "claims"
    folder.mkdir()
    story().drop("line", "confidence").write_csv(folder / "claims.csv")
    truths().rename({"asked": "valid_from"}).write_csv(folder / "truth.csv")
    out = tmp_path / "out"
    command = ["compare", str(folder), "--laws", "last_write,graphiti", "--ask", "1d", "--json", "-o", str(out)]
    assert main(command) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["law"] for row in rows} == {"last_write", "graphiti"}
    assert {"law", "metric", "value", "low", "high", "n"} <= rows[0].keys()
    assert "<html" in (out / "laws.html").read_text(encoding="utf-8")
    assert main(["compare", str(folder), "--laws", "grafiti"]) == 2
    assert "graphiti" in capsys.readouterr().err


@pytest.mark.nightly
@pytest.mark.skipif(not DATA.is_dir(), reason="the folder shared/data is not next to this checkout")
def test_laws_reproduce_the_published_table() -> None:
    claims, truth = read_folder(DATA / "mmkb_years")
    clean = compare_on_claims(claims, truth, list(HEADLINE), ask_after=30.0, without=["gossip"]).frame
    gossip = compare_on_claims(claims, truth, list(HEADLINE), ask_after=30.0).frame
    for law, expected in HEADLINE.items():
        measured = (value(clean, law, "accuracy"), value(clean, law, "returned"), value(gossip, law, "accuracy"))
        assert measured == pytest.approx(expected, abs=0.002), law


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


def test_halves_of_objects_are_disjoint_and_ignore_their_order() -> None:
    objects = pl.Series([f"o{number}" for number in range(101)])
    first, second = halves(objects, seed=3)
    assert (len(first), len(second)) == (51, 50)
    assert sorted([*first, *second]) == sorted(objects)
    assert halves(objects.reverse(), seed=3)[0].to_list() == first.to_list()
    assert halves(objects, seed=4)[0].to_list() != first.to_list()


@pytest.mark.skipif(not DATA.is_dir(), reason="the folder shared/data is not next to this checkout")
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
