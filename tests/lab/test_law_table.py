"""Laws side by side on claims: the questions, the scoring of ties, and the headline where its data are at hand."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from malsim.base.errors import UsageError
from malsim.cli import main
from malsim.lab.studies.laws import compare_on_claims, read_folder
from malsim.lab.studies.laws.stream import questions_of

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "mmkb_years"
HEADLINE = {  # spec of the minimal models: clean, returned, 30 % gossip
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
    """Two writers of two values: half a right answer, and the Brier score of a coin, not of a sure thing."""
    claims = pl.concat([story(), story().with_columns(writer=pl.lit("g"), value=pl.lit("E"))])
    frame = compare_on_claims(claims, truths(), ["majority"], ask_after=1.0).frame
    assert value(frame, "majority", "accuracy") == 0.5
    assert value(frame, "majority", "brier") == pytest.approx(0.25)


def test_memory_without_return_misses_returning_truths() -> None:
    frame = compare_on_claims(story(), truths(), ["last_write", "graphiti"], ask_after=1.0).frame
    assert value(frame, "last_write", "returned") == 1.0
    assert value(frame, "graphiti", "returned") == 0.0
    assert value(frame, "graphiti", "accuracy") == pytest.approx(2 / 3)


def test_tied_values_share_the_answer() -> None:
    frame = compare_on_claims(story(), truths(), ["mem0_additive"], ask_after=1.0).frame
    assert value(frame, "mem0_additive", "accuracy") == pytest.approx(0.5)


def test_claims_at_the_time_of_a_question_are_excluded() -> None:
    frame = compare_on_claims(story(), truths(), ["last_write"], ask_after=0.0).frame
    assert value(frame, "last_write", "accuracy") == 0.0


def test_unknown_writer_is_refused() -> None:
    with pytest.raises(UsageError, match="no such writer"):
        compare_on_claims(story(), truths(), ["last_write"], without=["nobody"])


def test_the_command_prints_rows_and_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
@pytest.mark.skipif(not DATA.is_dir(), reason="the data set mmkb_years does not lie beside the project")
def test_minimal_models_reproduce_the_published_table() -> None:
    claims, truth = read_folder(DATA)
    clean = compare_on_claims(claims, truth, list(HEADLINE), ask_after=30.0, without=["gossip"]).frame
    gossip = compare_on_claims(claims, truth, list(HEADLINE), ask_after=30.0).frame
    for law, expected in HEADLINE.items():
        got = (value(clean, law, "accuracy"), value(clean, law, "returned"), value(gossip, law, "accuracy"))
        assert got == pytest.approx(expected, abs=0.002), law
