"""Tests for the benchmark, which compares the median times of two callables, timed alternately."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from malsim.base.limits import Limits
from malsim.cli import main
from malsim.commands import judge
from tests.bench.__main__ import main as bench
from tests.bench.rows import ratios
from tests.bench.rows.ratios import Ratio, compare

if TYPE_CHECKING:
    import pytest


def test_ratio_compares_times_or_rates() -> None:
    slower = Ratio(name="", ours=3.0, theirs=2.0, limit=1.4)
    assert (slower.ratio, slower.ok) == (1.5, False)
    faster = Ratio(name="", ours=2.0, theirs=3.0, limit=40, at_least=True, work=100.0)
    assert (faster.ratio, faster.ok) == (150.0, True)


def test_callables_are_called_alternately_after_a_warm_up() -> None:
    calls: list[str] = []
    row = compare("x", lambda: calls.append("ours"), lambda: calls.append("theirs"), limit=1e9, repeats=3)
    assert calls == ["ours", "theirs"] * 4
    assert row.ok


def test_command_prints_rows_and_fails_beyond_a_limit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def two(only: str, *, left_out: object) -> list[Ratio]:
        del only, left_out
        assert Limits.in_force() is None  # benchmark rows may exceed the usual limits
        return [Ratio(name="a", ours=1.0, theirs=1.0, limit=2.0), Ratio(name="b", ours=3.0, theirs=1.0, limit=2.0)]

    monkeypatch.setattr(ratios, "every_row", two)
    assert bench(["--json"]) == 1
    assert json.loads(capsys.readouterr().out) == [
        {"name": "a", "ratio": 1.0, "limit": 2.0, "ok": True},
        {"name": "b", "ratio": 3.0, "limit": 2.0, "ok": False},
    ]
    assert bench([]) == 1
    assert "NO" in capsys.readouterr().out


def test_bench_skips_and_reports_libraries_not_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "river.stats", None)
    assert bench(["--only", "ops", "--json"]) == 0
    value = capsys.readouterr()
    assert json.loads(value.out) == []
    assert "given: 'river'" in value.err
    assert "pip install" in value.err


def test_judge_refuses_planted_option_outside_the_repository(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(judge, "ROOT", tmp_path)
    assert main(["judge", "--planted"]) == 2
    assert "--planted needs malsim's repository" in capsys.readouterr().err
