"""Checks on fresh seeds: a check decided by chance depends on its seed, any other holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from malsim.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

TEXT = """
why = "One writer who is right half the time."
seed = 3
[run]
days = 12
replications = 8
[[facts]]
name = "pump"
values = ["running", "stopped"]
[[writers]]
behaviour = "honest"
rate = 1.0
accuracy = 0.5
[[check]]
name = "it is worth something"
property = "always (right(pump) <= 1)"
[[check]]
name = "at the end it is right"
property = "always[12d:12d] (right(pump) == 1)"
share = 0.75
"""


def test_seeds_option_names_seed_dependent_checks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.toml"
    path.write_text(TEXT, encoding="utf-8")
    codes = [main(["test", str(path), "--seed", str(seed)]) for seed in range(3, 9)]
    passed = codes[1:].count(0)
    assert 0 < passed < 5
    capsys.readouterr()
    assert main(["test", str(path), "--seeds", "5"]) == 1
    said = capsys.readouterr().out
    assert f"depends on its seed: at the end it is right: passes on {passed} of 5 seeds" in said
    assert said.endswith("1 checks hold on every fresh seed, 1 do not\n")
    assert main(["test", str(path), "--check", "it is worth something", "--seeds", "2"]) == 0
    assert main(["test", str(path), "--seeds", "0"]) == 2
    assert "the number of seeds is out of bounds" in capsys.readouterr().err
