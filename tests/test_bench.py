"""The clock that compares: medians of two callables timed in turn."""

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


def test_ratio_is_ours_over_theirs_and_speed_up_its_inverse() -> None:
    assert (Ratio(name="", ours=3.0, theirs=2.0, limit=1.5).ratio, Ratio(name="", ours=3.0, theirs=2.0, limit=1.4).ok) == (
        1.5,
        False,
    )
    faster = Ratio(name="", ours=2.0, theirs=3.0, limit=40, at_least=True, work=100.0)
    assert (faster.ratio, faster.ok) == (150.0, True)


def test_both_are_called_in_turn_after_a_warm_up() -> None:
    calls: list[str] = []
    row = compare("x", lambda: calls.append("ours"), lambda: calls.append("theirs"), limit=1e9, repeats=3)
    assert calls == ["ours", "theirs"] * 4
    assert row.ok


def test_the_command_prints_rows_and_fails_on_a_broken_promise(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def two(only: str, *, left_out: object) -> list[Ratio]:
        del only, left_out
        return [Ratio(name="a", ours=1.0, theirs=1.0, limit=2.0), Ratio(name="b", ours=3.0, theirs=1.0, limit=2.0)]

    monkeypatch.setattr(ratios, "every_row", two)
    assert bench(["--json"]) == 1
    assert json.loads(capsys.readouterr().out) == [
        {"name": "a", "ratio": 1.0, "limit": 2.0, "ok": True},
        {"name": "b", "ratio": 3.0, "limit": 2.0, "ok": False},
    ]
    assert bench([]) == 1
    assert "NO" in capsys.readouterr().out


def test_a_row_of_shares_without_a_limit_is_printed_and_never_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = Ratio(name="wrong answers", ours=0.5, theirs=0.25, limit=None, unit="%")

    def one(only: str, *, left_out: object) -> list[Ratio]:
        del only, left_out
        assert Limits.in_force() is None  # some rows are large on purpose
        return [row]

    monkeypatch.setattr(ratios, "every_row", one)
    assert bench([]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split() == ["wrong", "answers", "2.00", "50.000", "%", "25.000", "%"]
    assert bench(["--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"name": "wrong answers", "ratio": 2.0, "limit": None, "ok": True}]


def test_missing_peer_is_named_and_its_rows_are_skipped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "crowdkit", None)
    assert bench(["--only", "peers", "--json"]) == 0
    value = capsys.readouterr()
    assert json.loads(value.out) == []
    assert "crowdkit" in value.err
    assert "pip install crowd-kit" in value.err


def test_wheel_install_names_files_only_in_the_repository(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(judge, "ROOT", tmp_path)
    assert main(["judge", "--planted"]) == 2
    assert "this needs malsim's repository" in capsys.readouterr().err
