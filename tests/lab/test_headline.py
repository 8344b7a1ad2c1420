"""The headline's worlds, who passes them, and one calibration for all laws."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malsim.base.errors import MalsimError
from malsim.cli import main
from malsim.lab.studies.laws.headline import HeadlineTable, headline, study, world, worlds
from malsim.lab.studies.laws.headline.world import HeadlineWorld
from malsim.lab.studies.laws.output_calibration import calibrate, divide

FEW = [
    HeadlineWorld(1, "prompt"), HeadlineWorld(1, "prompt", 10), HeadlineWorld(4, "misses"), HeadlineWorld(3, "late", 3, 20),
]  # fmt: skip
LAWS = ["records", "records, no tau", "records, one voice", "last_write", "majority"]


@given(st.sampled_from(worlds()), st.integers(0, 5))
@settings(max_examples=6, deadline=None)
def test_a_world_asks_of_gossiped_facts_what_somebody_has_reported(one: HeadlineWorld, seed: int) -> None:
    claims, questions = one.draw(seed)
    assert one.draw(seed)[0].equals(claims)
    names = claims["writer"].unique().str.split(" ").list.first()
    assert ((names == "honest").sum(), (names == "gossip").sum()) == (one.honest, one.gossips)
    honest = claims.filter(pl.col("writer").str.starts_with("honest"))
    past = questions.join(honest, on=["object", "value"]).filter(pl.col("t") < pl.col("asked"))
    assert past.select("object", "value", "asked").n_unique() == questions.height
    gossip = claims.filter(pl.col("writer").str.starts_with("gossip"))
    assert gossip.join(honest, on=["object", "value"]).filter(pl.col("t_right") < pl.col("t")).select(
        "writer", "object", "value", "t"
    ).n_unique() == gossip.height  # fmt: skip


def share(table: HeadlineTable, law: str, question: str) -> float:
    return float(table.frame.filter((pl.col("law") == law) & (pl.col("question") == question))["value"].mean())  # type: ignore[arg-type]


def test_laws_differ_where_they_should_and_the_table_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "worlds", lambda: FEW)
    monkeypatch.setattr(world, "FACTS", 20)
    table = headline(LAWS, replications=2, seed=50)
    assert share(table, "last_write", "changed") > 0.95 < share(table, "records", "changed")
    assert share(table, "records, no tau", "returned") < share(table, "records", "returned")
    assert share(table, "records, one voice", "10 gossips") > 0.95 > share(table, "records", "10 gossips")
    assert share(table, "last_write", "3 gossips, 20 facts beside") < 0.9
    assert table.passes["passed"].is_sorted(descending=True)
    assert "of 6" in str(table)
    assert [path.stat().st_size > 0 for path in table.write(tmp_path / "out")] == [True] * 3
    assert len(json.loads(table.json())) == table.frame.height


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [(["--headline", "scenarios/poisoner.toml"], "draws its own worlds"), ([], "nothing to compare on"),
     (["--headline", "--replications", "1"], "too few"), (["--headline", "--laws", "nobody"], "unknown law")],
)  # fmt: skip
def test_what_the_command_refuses(arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *arguments]) == 2
    assert problem in capsys.readouterr().err


@given(st.lists(st.tuples(st.floats(0.0, 1.0), st.booleans()), min_size=2, max_size=60), st.integers(0, 9))
def test_calibrated_answers_are_shares_and_keep_their_order_in_a_half(rows: list[tuple[float, bool]], seed: int) -> None:
    probability, right = (list(column) for column in zip(*rows, strict=True))
    answers = pl.DataFrame({"right": np.array(right, dtype=float), "probability": probability})
    objects = pl.Series([f"o{place}" for place in range(len(rows))])
    level = calibrate(answers, objects, seed=seed)["probability"].to_numpy()
    assert ((level >= 0.0) & (level <= 1.0)).all()
    assert calibrate(answers.head(1), objects.head(1))["probability"][0] == probability[0]


def test_calibration_mends_a_law_that_is_too_sure_and_takes_nothing_from_one_that_is_not() -> None:
    draw = np.random.default_rng(3)
    true = draw.uniform(0.5, 1.0, 4000)
    right = (draw.random(4000) < true).astype(float)
    objects = pl.Series([f"o{place}" for place in range(4000)])

    def brier(said: np.ndarray) -> float:
        level = calibrate(pl.DataFrame({"right": right, "probability": said}), objects)["probability"].to_numpy()
        return float(((level - right) ** 2).mean())

    honest, sure = float(((true - right) ** 2).mean()), np.sqrt(true)
    assert ((sure - right) ** 2).mean() > honest + 0.01
    assert brier(sure) == pytest.approx(brier(true), abs=1e-3)  # the same order, but for what lies between two points
    assert brier(true) == pytest.approx(honest, abs=0.005)


def test_the_divisor_is_that_of_records() -> None:
    claims = pl.DataFrame({"object": ["x"] * 4, "t": [0.0, 0.0, 1.0, 9.0], "writer": list("abca"), "value": list("ABAA")})
    questions = pl.DataFrame({"object": ["x", "x"], "asked": [None, 0.5]}, schema_overrides={"asked": pl.Float64})
    said = divide(pl.DataFrame({"right": [1.0, 1.0], "probability": [0.9, 0.9]}), claims, questions)["probability"]
    by_hand = [0.95 / (1.0 + 9.0 ** (-1.0 / (3.0 + 0.2 * (voices - 1)))) + 0.05 / 2 for voices in (3, 2)]
    assert said.to_list() == pytest.approx(by_hand, abs=1e-12)


def test_laws_are_calibrated_alike_on_scenarios(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["compare", "scenarios/poisoner.toml", "--laws", "records,majority", "--replications", "4", "--json"]
    scores = []
    for more in ([], ["--calibrated"]):
        assert main([*command, "--metric", "accuracy,brier", *more]) == 0
        rows = json.loads(capsys.readouterr().out)
        scores.append({(row["law"], row["metric"]): row["value"] for row in rows if row["metric"] != "cpu_ms_per_tick"})
    as_is, calibrated = scores
    for law in ("records", "majority"):
        assert calibrated[law, "accuracy"] == as_is[law, "accuracy"]
        assert calibrated[law, "brier"] != as_is[law, "brier"]
    assert main([*command, "--calibrated", "--calibration", "divisor"]) == 2
    assert "this is for claims" in capsys.readouterr().err


def test_unknown_laws_are_refused_before_anything_runs() -> None:
    with pytest.raises(MalsimError, match="unknown law"):
        headline(["nobody"])
