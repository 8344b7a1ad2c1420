"""The evidence: the same questions for every law, paired intervals, ablations and liars, on a stream that is drawn."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from malsim.base.errors import UsageError
from tests.bench.evidence.__main__ import main
from tests.bench.evidence.ablations import ABLATIONS, ablation_table, halving_table
from tests.bench.evidence.adversaries import WORLDS, told_right
from tests.bench.evidence.tables import MEAN, answers_of, reliability_table, score_table
from tests.bench.evidence.weak_spots import SPOTS, weak_table

if TYPE_CHECKING:
    from pathlib import Path

LAWS = ("records", "majority", "dawid_skene", "crh", "truthfinder")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two sets of one kind: four good writers, three that are worse than chance."""
    draw, errors = np.random.default_rng(5), []
    for name in ("one", "two"):
        folder = tmp_path_factory.mktemp("sets") / name
        folder.mkdir()
        truth = draw.integers(0, 2, 120)
        rows = [
            (f"w{writer}", f"o{about}", ["no", "yes"][int(true if draw.random() < good else 1 - true)])
            for writer, good in enumerate([0.85] * 4 + [0.3] * 3)
            for about, true in enumerate(truth)
            if draw.random() < 0.7
        ]
        frame = pl.DataFrame(rows, schema=["writer", "object", "value"], orient="row")
        frame.with_columns(stated_confidence=0.8).write_csv(folder / "claims.csv")
        claims = {"object": [f"o{about}" for about in range(120)], "value": [["no", "yes"][true] for true in truth.tolist()]}
        pl.DataFrame(claims).write_csv(folder / "truth.csv")
        errors.append(folder)
    return errors


def test_records_gain_on_a_vote_where_some_are_wrong_more_often_than_right(folders: list[Path]) -> None:
    sets = [answers_of(folder, LAWS) for folder in folders]
    table = score_table(sets)
    assert table["data"].unique().sort().to_list() == sorted(["one", "two", MEAN])
    assert (table["low"] <= table["value"]).all()
    assert (table["value"] <= table["high"]).all()
    gain = table.filter((pl.col("data") == MEAN) & (pl.col("law") == "majority") & (pl.col("metric") == "accuracy"))
    assert gain["gain_low"][0] > 0.0
    own = table.filter(pl.col("law") == "records")
    assert own["gain"].to_list() == [0.0] * own.height
    reliability = reliability_table(sets)
    assert reliability.group_by("law").agg(pl.col("questions").sum())["questions"].to_list() == [240] * len(LAWS)


def test_the_law_as_it_stands_is_what_replay_measures(folders: list[Path]) -> None:
    table = ablation_table(folders)
    assert table["data"].to_list() == [name for name in (MEAN, "one", "two") for _ in ABLATIONS]
    assert table["change"].to_list() == 3 * list(ABLATIONS)
    replayed = score_table([answers_of(folder, ("records",)) for folder in folders])
    mean = replayed.filter((pl.col("data") == MEAN) & (pl.col("metric") == "brier"))["value"][0]
    assert table["brier"][0] == pytest.approx(mean, abs=1e-9)


def test_constants_chosen_on_half_of_the_questions_are_scored_on_the_other(folders: list[Path]) -> None:
    table = halving_table(folders[:1])
    assert table["law"][0] == "records"
    assert table["law"].to_list()[2:] == ["majority", "dawid_skene"]
    stands = ablation_table(folders[:1])["brier"][0]
    assert table["brier"][0] == pytest.approx(stands, abs=2e-3)  # halves of the same questions
    assert table["lost"][2] < 0.05  # the vote is beaten on nearly every half
    assert table["lost"][1] is None


def test_weak_spots_stand_beside_a_vote() -> None:
    table = weak_table(draws=3, seed=5).pivot("law", index="spot", values="value")
    assert table["spot"].to_list() == list(SPOTS)
    shares = dict(zip(table["spot"], table["majority"] - table["records"], strict=True))
    assert shares["four of nine lie about one topic"] > 0.1
    assert shares["four of ten sleepers, after they turn"] > 0.1


def test_four_pinned_facts_turn_a_lying_majority() -> None:
    free, pinned = (
        told_right(WORLDS[world], "records", replications=2, seed=3).mean()
        for world in ("10 sybils, 5 honest", "10 sybils, 5 honest, 4 verified")
    )
    assert free < 0.2
    assert pinned > 0.7


def test_the_command_writes_tables_and_a_figure(
    folders: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [str(folder) for folder in folders]
    assert main([*paths, "--laws", "records,majority", "--halves", "-o", str(tmp_path), "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {"scores", "reliability", "ablations", "halves"}
    assert {path.name for path in tmp_path.iterdir()} >= {"scores.parquet", "reliability.png"}
    with pytest.raises(UsageError, match="nothing to measure"):
        main([])
