"""Tests for the command line: output, files and exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from malsim.cli import main
from malsim.parsers import HEADINGS, command_parsers

SCENARIOS = Path(__file__).parents[1] / "scenarios"
MOST_NAMES = 26


def test_run_prints_a_summary_and_writes_frames_and_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(SCENARIOS / "mutual_dispute.toml"), "-o", str(tmp_path)]) == 0
    output = capsys.readouterr().out
    assert "obs_a1a1         effective repeats every 2 ticks, ends at 0.300, peak to peak 0.300" in output
    assert "obs_d4d4         effective settled at 0.343" in output
    cells = pl.read_parquet(tmp_path / "cells.parquet")
    assert cells.filter(pl.col("cell") == "obs_a1a1")["effective"].to_list() == [0.0, 0.3] * 30
    for name in ("effective.png", "currency.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["rules"]["challenge_ceiling"] == 0.6
    assert len(manifest["sha256"]["cells"]) == 64


def test_rules_can_be_changed_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(SCENARIOS / "mutual_dispute.toml")
    assert main(["run", path, "-o", str(tmp_path), "--no-plots", "--set", "rules.damping=0.5"]) == 0
    assert "obs_a1a1         effective settled" in capsys.readouterr().out
    assert not list(tmp_path.glob("*.png"))
    assert main(["run", path, "-o", str(tmp_path), "--no-plots", "--rules", "recall_v5"]) == 0
    assert main(["run", path, "-o", str(tmp_path), "--no-plots", "--set", "run.days=12", "--set", "run.turn_every=3"]) == 0
    assert "12 days, 4 ticks" in capsys.readouterr().out


def test_replay_prints_one_json_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "claims.csv").write_text("writer,object,value,stated_confidence\na,x,1,0.9\nb,x,1,\nc,x,2,0.6\nd,y,2,2\n")
    (tmp_path / "truth.csv").write_text("object,value\nx,1\n")
    arguments = ["compare", str(tmp_path / "claims.csv"), "--truth", str(tmp_path / "truth.csv"), "--json"]
    assert main(arguments) == 2
    assert "line 5" in capsys.readouterr().err
    assert main([*arguments, "--on-bad-rows", "skip"]) == 0
    captured = capsys.readouterr()
    figures = json.loads(captured.out)
    assert "1 bad rows left out" in captured.err
    assert set(figures) == {
        "objects", "accuracy", "accuracy_ci", "auc", "brier", "log_loss", "ece", "settled", "ticks", "refused", "baselines",
    }  # fmt: skip
    assert (figures["objects"], figures["accuracy"], figures["auc"], figures["settled"]) == (1, 1.0, None, True)
    assert set(figures["baselines"]) == {"majority", "stated", "dawid_skene"}
    assert set(figures["baselines"]["majority"]) == {"accuracy", "brier", "log_loss", "ece"}


def test_every_law_replays_a_folder_and_prints_valid_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "claims.csv").write_text("writer,object,value\na,x,1\nb,x,1\nc,x,2\na,y,2\nb,y,2\nc,y,1\n")
    (tmp_path / "truth.csv").write_text("object,value\nx,1\ny,2\nelsewhere,1\n")

    def figures(*more: str) -> dict[str, Any]:
        assert main(["compare", str(tmp_path), "--json", *more]) == 0
        answer: dict[str, Any] = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
        return answer

    records = figures("--law", "records")
    assert (records["objects"], records["accuracy"]) == (2, 1.0)
    assert 0.0 < records["brier"] < 0.25
    assert set(records["baselines"]) == {"majority", "stated", "dawid_skene"}
    ranked = figures("--law", "last_write")
    assert (ranked["accuracy"], ranked["brier"]) == (0.0, None)
    (tmp_path / "truth.csv").write_text("object,value\nelsewhere,1\n")
    for law in ("records", "mal"):
        nothing = figures("--law", law)
        assert (nothing["objects"], nothing["accuracy"], nothing["baselines"]["dawid_skene"]["brier"]) == (0, None, None)
    assert main(["compare", str(tmp_path), "--laws", "records", "--set", "rules.damping=1"]) == 2
    assert "law.NAME=VALUE" in capsys.readouterr().err


def test_replay_writes_answers_and_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"w{i},o{j},{(i * j) % 2},0.{5 + (i + j) % 5}" for i in range(5) for j in range(8)]
    (tmp_path / "claims.csv").write_text("\n".join(["writer,object,value,stated_confidence", *rows]))
    (tmp_path / "truth.csv").write_text("\n".join(["object,value", *(f"o{j},{j % 2}" for j in range(8))]))
    out = tmp_path / "out"
    assert main(["compare", str(tmp_path / "claims.csv"), "--truth", str(tmp_path / "truth.csv"), "-o", str(out)]) == 0
    assert "accuracy" in capsys.readouterr().out
    expected = ["answers.parquet", "contested.parquet", "contested.png", "reliability.png"]
    assert sorted(path.name for path in out.iterdir()) == expected


def test_printed_schema_is_valid_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", "--schema"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "malsim scenario"


def test_help_fits_one_screen_and_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line in HEADINGS] == list(HEADINGS)
    names = [line.split()[0] for line in lines if line.startswith("  ")]
    assert len(names) <= MOST_NAMES
    assert len(lines) <= MOST_NAMES + len(HEADINGS) + 2
    words = {
        f"{group} {word}" for line in lines if "|" in line for group, words in [line.split()] for word in words.split("|")
    }
    assert words | {name for name in names if not any(word.startswith(f"{name} ") for word in words)} == {*command_parsers()}
    assert max(map(len, lines)) <= 100


SHARED = {
    "--help", "--rules", "--law", "--set", "--memory", "--mapping", "--call-limit", "--allow-code", "--seed",
    "--replications", "--json", "--output",
}  # fmt: skip


@pytest.mark.parametrize("name", command_parsers())
def test_command_has_at_most_sixteen_options(name: str) -> None:
    actions = [action for action in command_parsers()[name]._actions if action.option_strings]
    assert sum(not SHARED & {*action.option_strings} for action in actions) <= 16
