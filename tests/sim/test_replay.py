"""Tests of replays of claim files: disputes match a plain reference, bad rows are named, scores match their definitions."""

from __future__ import annotations

import gzip
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malsim.base.errors import DataError, UsageError
from malsim.lab.studies.laws.replay_report import replay_law
from malsim.lab.studies.real import read_real
from malsim.memory import Rules
from malsim.sim.record.scoring import metrics, score
from malsim.sim.replay.disputes import disputes
from malsim.sim.replay.feed import replay
from malsim.sim.writers.engine.claim_files import read_claims, read_truth

DATA = Path(__file__).parents[2].parent / "shared" / "data"
needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason="the real claims lie beside the project, in shared/data, and are not here"
)
NONE = Rules(calibration="none")


def brute(stream: list[tuple[str, str, str]], *, mutual: bool) -> set[tuple[int, int, str, int]]:
    """Return the edges of a stream of claims, computed one claim at a time."""
    edges: set[tuple[int, int, str, int]] = set()
    standing: dict[int, tuple[str, str, str]] = {}
    head: dict[tuple[str, str], int] = {}
    first: dict[tuple[str, str], int] = {}

    def crowned(pair: tuple[str, str], new: int, now: int) -> None:
        head[pair] = new
        for other, (_, subject, value) in standing.items():
            if other == new or subject != pair[0]:
                continue
            if value == pair[1]:
                edges.add((other, new, "supports", now))
            elif mutual or other > first[pair]:
                edges.add((other, new, "contradicts", now))

    for now, (writer, subject, value) in enumerate(stream):
        for old, (by, about, claimed) in list(standing.items()):
            if (by, about) == (writer, subject):
                del standing[old]
                edges.add((now, old, "supersedes", now))
                if head[about, claimed] == old:
                    del head[about, claimed]
                    heirs = [other for other, (_, t, v) in standing.items() if (t, v) == (about, claimed)]
                    if heirs:
                        crowned((about, claimed), min(heirs), now)
        standing[now] = (writer, subject, value)
        pair = (subject, value)
        first.setdefault(pair, now)
        for (other_subject, other_value), leader in head.items():
            if other_subject == subject:
                edges.add((now, leader, "supports" if other_value == value else "contradicts", now))
        if pair not in head:
            crowned(pair, now, now)
    return edges


names = st.tuples(st.sampled_from("abcd"), st.sampled_from("xy"), st.sampled_from("123"))


@given(st.lists(names, min_size=1, max_size=14), st.booleans())
def test_disputes_equal_the_claim_by_claim_reference(stream: list[Any], mutual: bool) -> None:  # noqa: FBT001
    frame = pl.DataFrame(stream, schema=["writer", "object", "value"], orient="row").with_row_index("arrival")
    found = disputes(frame.with_columns(pl.col("arrival").cast(pl.Int64)), mutual=mutual)
    assert set(found.rows()) == brute(stream, mutual=mutual)


def claims(rows: list[tuple[str, str, str, float]], times: list[float] | None = None) -> pl.DataFrame:
    frame = pl.DataFrame(rows, schema=["writer", "object", "value", "confidence"], orient="row")
    time = pl.Series("time", times, dtype=pl.Float64) if times else pl.Series("time", [None] * len(rows), dtype=pl.Float64)
    return frame.with_row_index("line", offset=2).with_columns(time)


def test_majority_wins_a_mutual_dispute() -> None:
    rows = [(f"w{i}", "sky", "blue" if i < 4 else "green", 0.7) for i in range(6)]
    truth = pl.DataFrame({"object": ["sky"], "value": ["blue"], "asked": [None]}, schema_overrides={"asked": pl.Float64})
    found = replay(claims(rows), truth, rules=NONE, seed=3)
    assert found.answers.row(0, named=True)["said"] == "blue"
    assert found.score is not None
    assert found.score.value["accuracy"] == 1.0
    assert math.isnan(found.score.value["auc"])
    assert found.refused.is_empty()
    again = replay(claims(rows), truth, rules=NONE, seed=3)
    assert again.answers.equals(found.answers)
    assert again.memory.cells["effective"].to_list() == found.memory.cells["effective"].to_list()


def test_replay_answers_a_dated_question_from_earlier_claims() -> None:
    rows = [("a", "seat", "red", 0.8), ("b", "seat", "red", 0.8), ("a", "seat", "blue", 0.8), ("b", "seat", "blue", 0.8)]
    truth = pl.DataFrame({"object": ["seat", "seat"], "value": ["red", "blue"], "asked": [5.0, 20.0]})
    found = replay(claims(rows, [0.0, 1.0, 10.0, 11.0]), truth, rules=NONE)
    assert found.answers.select("asked", "said", "right").rows() == [(5.0, "red", True), (20.0, "blue", True)]
    assert found.memory.cells["status"].to_list() == ["superseded", "superseded", "active", "active"]


def test_replay_refuses_an_unknown_contradictions_mode() -> None:
    with pytest.raises(UsageError, match="mutual, forward"):
        replay(claims([("a", "x", "1", 0.5)]), contradictions="both")


CSV = "time,writer,object,value,stated_confidence\n"


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (",,x,1,0.5", "no writer"),
        (",ann, ,1,0.5", "no object"),
        (",ann,x,,0.5", "no value"),
        (",ann,x,1,1.0001", "from 0 to 1"),
        (",ann,x,1,-0.1", "from 0 to 1"),
        (",ann,x,1,NaN", "from 0 to 1"),
        (",ann,x,1,high", "from 0 to 1"),
    ],
)
def test_bad_rows_are_reported_with_their_lines(tmp_path: Path, row: str, problem: str) -> None:
    path = tmp_path / "claims.csv"
    path.write_text(f"{CSV},bob,x,1,0.5\n{row}\n")
    with pytest.raises(DataError, match=f"line 3: .*{problem}"):
        read_claims(path)
    found = read_claims(path, on_bad_rows="skip")
    assert (found.claims.height, found.bad["line"].to_list()) == (1, [3])


def test_unreadable_time_is_an_error_only_in_a_dated_file(tmp_path: Path) -> None:
    path = tmp_path / "claims.csv"
    path.write_text(f"{CSV}2026-01-01,ann,x,1,\nsoon,bob,x,1,\n2026-01-03T12:00:00Z,cyd,x,2,0.9\n")
    with pytest.raises(DataError, match="line 3: time"):
        read_claims(path)
    found = read_claims(path, on_bad_rows="skip")
    assert found.claims["time"].to_list() == [0.0, 2.5]
    assert found.claims["confidence"].to_list() == [0.7, 0.9]


def test_file_name_selects_format_and_compression(tmp_path: Path) -> None:
    frame = pl.DataFrame({"writer": ["ann"], "object": ["ü"], "value": ["1"], "stated_confidence": [0.5]})
    frame.write_parquet(tmp_path / "c.parquet")
    frame.write_ndjson(tmp_path / "c.ndjson")
    with gzip.open(tmp_path / "c.csv.gz", "wt", encoding="utf-8") as file:
        file.write(frame.write_csv())
    read = [read_claims(tmp_path / name).claims.drop("line") for name in ("c.parquet", "c.ndjson", "c.csv.gz")]
    assert all(other.equals(read[0]) for other in read)


def test_invalid_claim_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        read_claims(tmp_path / "none.csv")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text(CSV)
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    (tmp_path / "torn.parquet").write_bytes(b"PAR1")
    for name, message in (("empty", "cannot be read"), ("header", "contains no claims"), ("other", "writer is missing")):
        with pytest.raises(DataError, match=message):
            read_claims(tmp_path / f"{name}.csv")
    with pytest.raises(DataError, match="cannot be read"):
        read_claims(tmp_path / "torn.parquet")
    (tmp_path / "truth.csv").write_text("object,value,valid_from\nx,1,2026-01-01\n")
    with pytest.raises(DataError, match="needs dated claims"):
        read_truth(tmp_path / "truth.csv")
    # the column is called `time` instead of `valid_from`
    (tmp_path / "truth.csv").write_text("object,value,time\nx,1,2026-01-01\nx,2,2026-02-01\n")
    with pytest.raises(DataError, match="two true values"):
        read_truth(tmp_path / "truth.csv")


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40))
def test_metrics_match_their_definitions(answers: list[tuple[float, bool]]) -> None:
    probability = np.array([p for p, _ in answers])
    right = np.array([r for _, r in answers])
    found = {name: float(values[0]) for name, values in metrics(probability, right, np.ones((1, len(answers)))).items()}
    pairs = [(p > q) + 0.5 * (p == q) for p in probability[right] for q in probability[~right]]
    assert found["accuracy"] == pytest.approx(right.mean())
    assert found["brier"] == pytest.approx(((probability - right) ** 2).mean())
    assert math.isnan(found["auc"]) if not pairs else found["auc"] == pytest.approx(np.mean(pairs))
    clipped = np.clip(probability, 1e-6, 1 - 1e-6)
    assert found["log_loss"] == pytest.approx(-np.log(np.where(right, clipped, 1 - clipped)).mean())
    assert 0.0 <= found["ece"] <= 1.0


def test_score_interval_contains_the_value() -> None:
    draws = np.random.Generator(np.random.Philox(key=5))
    probability = draws.random(300)
    found = score(probability, draws.random(300) < probability)
    for name, (low, high) in found.interval.items():
        assert low <= found.value[name] <= high or name == "ece"  # resampling biases the ece upwards
    assert math.isnan(score(np.zeros(0), np.zeros(0, dtype=bool)).value["accuracy"])


@pytest.mark.nightly
@needs_data
@pytest.mark.parametrize(("contradictions", "measured"), [("forward", 0.830), ("mutual", 0.898)])
def test_accuracy_on_crowd_judgements_matches_the_recorded_one(contradictions: str, measured: float) -> None:
    found = read_claims(DATA / "snow_rte" / "claims.csv.gz")
    truth = read_truth(DATA / "snow_rte" / "truth.csv.gz")
    accuracy = []
    for seed in range(5):
        scored = replay(found.claims, truth, rules=NONE, contradictions=contradictions, seed=seed).score
        assert scored is not None
        accuracy.append(scored.value["accuracy"])
    assert np.mean(accuracy) == pytest.approx(measured, abs=0.01)


def test_tie_of_k_values_counts_as_one_kth_in_every_command(tmp_path: Path) -> None:
    rows = ["a,o1,red", "b,o1,blue", "a,o2,red", "b,o2,red", "a,o3,red", "b,o3,blue", "c,o3,green"]
    (tmp_path / "claims.csv").write_text("writer,object,value\n" + "\n".join(rows) + "\n")
    (tmp_path / "truth.csv").write_text("object,value\no1,red\no2,red\no3,green\n")
    found = replay(tmp_path / "claims.csv", tmp_path / "truth.csv")
    assert found.score is not None
    wanted = (1 / 2 + 1 + 1 / 3) / 3
    assert found.baselines["majority"].value["accuracy"] == pytest.approx(wanted)
    assert found.baselines["stated"].value["accuracy"] == pytest.approx(wanted)
    assert found.answers.filter(object="o1")["right"].to_list() == [0.5]  # the two values tie
    assert found.score.value["accuracy"] == pytest.approx(found.answers["right"].mean())
    claims, truth = read_claims(tmp_path / "claims.csv").claims, read_truth(tmp_path / "truth.csv")
    assert replay_law(claims, truth, law="majority").score.value["accuracy"] == pytest.approx(wanted)  # type: ignore[union-attr]  # truth is given
    assert read_real(tmp_path).answers(Rules()).filter(object="o1")["right"].to_list() == [0.5]


@pytest.mark.parametrize(
    ("first", "second", "days"),
    [
        ("2008-06-20 06:46:23+00:00", "2008-06-21 06:46:23+00:00", 1.0),
        ("2008-06-20T06:00:00+02:00", "2008-06-20T06:00:00Z", 2 / 24),
        ("2008-06-20T06:00:00-0530", "2008-06-20T12:30:00+0100", 0.0),
        ("2008-06-20 06:00", "2008-06-22 18:00", 2.5),
        ("1999", "2000", 365.0),
        ("2008-W25", "2008-W26", 7.0),
        ("2008-W25-1", "2008-W25-3", 2.0),
        ("12.5", "13", 0.5),
    ],
)
def test_common_time_formats_are_read(tmp_path: Path, first: str, second: str, days: float) -> None:
    path = tmp_path / "claims.csv"
    path.write_text(f"{CSV}{first},a,x,1,\n{second},a,x,2,\n", encoding="utf-8")
    assert read_claims(path).claims["time"].to_list() == pytest.approx([0.0, days])


def test_confidences_of_0_and_1_are_clipped_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "claims.csv"
    path.write_text(f"{CSV}1,a,x,1,0\n2,b,x,1,1.0\n3,c,x,1,0.4\n4,d,x,1,\n", encoding="utf-8")
    found = read_claims(path)
    assert found.clipped == 2
    assert found.claims["confidence"].to_list() == [0.001, 0.999, 0.4, 0.7]
