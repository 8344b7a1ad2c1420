"""Tests for `malsim test --approve`, which records baselines after the user confirms."""

from __future__ import annotations

from pathlib import Path

import pytest

from malsim.cli import main

CLAIM = (
    '[[claim]]\nat = "0d"\nwriter = "ann"\nhandle = "obs_a1a1"\ntitle = "t"\nconfidence = 0.5\nverification = "external"\n'
)
BASELINE = (
    '[baseline]\ncolumns = ["cells.effective", "cells.status", "events"]\n[baseline.bands.effective]\nabsolute = 0.1\n'
)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    scenario = Path("x.toml")
    scenario.write_text(f'why = "w"\n[run]\ndays = 5\n{CLAIM}{BASELINE}', encoding="utf-8")
    return scenario


def edit(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


def test_approved_baseline_is_used_in_later_runs(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", str(path)]) == 2  # a missing baseline is an error, not a pass
    assert "no baseline is recorded" in capsys.readouterr().out
    assert main(["test", "--approve", str(path), "--yes"]) == 0
    assert "--approve" not in capsys.readouterr().out
    assert sorted(file.name for file in path.parent.glob("x.*.csv")) == ["x.cells.csv", "x.events.csv"]
    assert main(["test", str(path)]) == 0
    assert main(["test", "--approve", str(path)]) == 0
    assert "nothing to approve" in capsys.readouterr().out
    edit(path, "confidence = 0.5", "confidence = 0.58")
    assert main(["test", str(path)]) == 0  # the change stays within the band
    edit(path, "confidence = 0.58", "confidence = 0.7")
    capsys.readouterr()
    assert main(["test", str(path)]) == 1
    change = "effective left its band on day 1: expected 0.4 … 0.6, got 0.7"
    assert f"fail: baseline: cells obs_a1a1, replication 0: {change}" in capsys.readouterr().out


def test_approve_shows_changes_and_asks_for_confirmation(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["test", "--approve", str(path), "--yes"]) == 0
    before = Path("x.cells.csv").read_bytes()
    edit(path, "confidence = 0.5", "confidence = 0.9")
    for answer, code in (("", 1), ("no", 1), ("y", 0)):
        monkeypatch.setattr("builtins.input", lambda _, answer=answer: answer)
        assert main(["test", "--approve", str(path)]) == code
        out = capsys.readouterr().out
        assert "obs_a1a1, replication 0" in out
        assert "1 series left its band" in out
        assert Path("out/x/baseline.png").read_bytes().startswith(b"\x89PNG")
        assert (Path("x.cells.csv").read_bytes() == before) == (code == 1)
    assert main(["test", str(path), "--html", "r.html"]) == 0
    assert "data:image/png" in Path("r.html").read_text(encoding="utf-8")


def test_single_replication_is_compared_with_its_baseline(path: Path) -> None:
    edit(path, "days = 5", "days = 5\nreplications = 3")
    assert main(["test", "--approve", str(path), "--yes"]) == 0
    assert main(["test", str(path), "--replication", "2"]) == 0
    assert main(["test", str(path), "--replication", "7"]) == 2  # replication 7 is not in the baseline


def test_baseline_with_other_columns_is_an_error(path: Path) -> None:
    assert main(["test", "--approve", str(path), "--yes"]) == 0
    edit(path, '"cells.status", ', "")
    assert main(["test", str(path)]) == 2
    edit(path, "cells.effective", "cells.efective")
    assert main(["test", str(path)]) == 2
    assert main(["test", "--approve", str(path), "--yes"]) == 2


def test_approve_without_a_baseline_is_refused(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit(path, BASELINE, "")
    assert main(["test", "--approve", str(path), "--yes"]) == 2
    assert "add [baseline]" in capsys.readouterr().err
