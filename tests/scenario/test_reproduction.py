"""Tests that the command printed with a failure reproduces that failure alone, with the same text."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import pytest

from malsim.cli import main

if TYPE_CHECKING:
    from pathlib import Path

WORLD = """
why = "w"
seed = 11
[run]
days = 3
replications = 5
[[facts]]
name = "pump"
hazard = 0.2
[[writers]]
behaviour = "honest"
rate = 2.0
accuracy = 0.7
[[claim]]
at = "0d"
writer = "ann"
handle = "obs_a1a1"
object = "pump"
title = "it runs"
value = 0
confidence = 0.5
"""
CHECKS = {
    "a property": 'property = "always[1d:3d] (right(pump) == 1)"',
    "a share, it's 90 %": 'property = "always[1d:3d] (right(pump) == 1)"\nshare = 0.9',
    "a mean": 'metric = "mean"\nof = "right(pump)"\nwithin = [0.99, inf]',
    "an interval": 'metric = "mean"\nof = "right(pump)"\nwithin = [0.3, 0.6]',
    "an alarm": 'alarm = "obs_a1a1-flags-locked"\nexpect = { "2" = "tripped" }',
}
GOAL = '[[goal]]\nname = "a goal"\nsometimes = "eventually at event(tripped)"\n'


def failures(output: str) -> list[tuple[str, list[str]]]:
    """Return, for each failure, its location and name, and the printed lines that describe and reproduce it."""
    parts = re.split(r"^(?=\S.*: fail: )", output, flags=re.MULTILINE)[1:]
    prefixes = ("expected: ", "got: ", "clause: ", "seed: ", "alone: ", "replication: ")
    found = []
    for part in parts:
        lines = [line.strip() for line in part.splitlines()]
        found.append((re.split(": fail: ", lines[0])[0], [line for line in lines if line.startswith(prefixes)]))
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fails_again(capsys: pytest.CaptureFixture[str], arguments: list[str], count: int) -> None:
    capsys.readouterr()
    assert main(["test", *arguments]) == 1
    first = failures(capsys.readouterr().out)
    assert len(first) == count
    for index, details in first:
        command = shlex.split(details[-1].removeprefix("alone: "))
        assert command[0] == "malsim"
        assert main(command[1:]) == 1
        value = capsys.readouterr().out
        assert "0 passed, 1 failed, 0 could not be judged" in value
        assert failures(value) == [(index, details)]


def test_printed_command_reproduces_a_failed_check(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checks = "".join(f'[[check]]\nname = "{name}"\n{check}\n' for name, check in CHECKS.items())
    (folder / "a b.toml").write_text(WORLD + checks + GOAL, encoding="utf-8")
    fails_again(capsys, ["a b.toml", "--seed", "3", "--replications", "4"], len(CHECKS) + 1)


def test_printed_command_of_a_failed_baseline_keeps_the_rules(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "x.toml").write_text(f"{WORLD}[baseline]\n", encoding="utf-8")
    (folder / "new rules").write_text("confidence_cap = 0.2\n", encoding="utf-8")
    assert main(["test", "--approve", "x.toml", "--yes"]) == 0
    fails_again(capsys, ["x.toml", "--rules", "new rules"], 1)
