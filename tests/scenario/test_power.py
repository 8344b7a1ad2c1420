"""How often checks fail on a fresh seed, intervals of bounded metrics, and commands that make a failure again alone."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import numpy as np
import pytest

from malsim.cli import main
from malsim.scenario.checks.metric_bounds import MetricEstimate
from malsim.scenario.checks.value_bounds import bounds_of_metric, value_bounds
from malsim.scenario.properties.formula import Apply, Number, Read

if TYPE_CHECKING:
    from pathlib import Path

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
name = "it is always right"
property = "always[2d:] (right(pump) == 1)"
share = 0.75
[[check]]
name = "it is mostly wrong"
metric = "mean"
of = "right(pump)"
within = [0.0, 0.3]
[[check]]
name = "it is half right"
metric = "mean"
of = "right(pump)"
within = [0.48, 0.52]
"""


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> str:
    path = tmp_path / "x.toml"
    path.write_text(TEXT, encoding="utf-8")
    return str(path)


def test_the_power_of_each_check_is_told(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", path, "--power", "40"]) == 2  # one interval is too wide, which is no failure
    said = capsys.readouterr().out
    assert "error: it is half right: could not be judged: expected 0.48 … 0.52" in said
    assert "fails 1 (below 1): it is always right" in said
    assert "it is worth something" not in said.partition("checks:")[0].rpartition("passed")[2]
    assert said.endswith("4 checks: 3 fail on a fresh seed with a chance above 0.001\n")
    assert main(["test", path, "--check", "it is worth something", "--power", "20"]) == 0
    assert main(["test", path, "--check", "it is worth something", "--power", "3"]) == 2


def test_what_fails_fails_alone(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", path]) == 2
    commands = [line.partition("alone: malsim ")[2] for line in capsys.readouterr().out.splitlines() if "alone: " in line]
    assert len(commands) == 2
    assert sorted(main(shlex.split(command)) for command in commands) == [1, 1]


@pytest.mark.parametrize("count", [8, 40, 200])
def test_an_interval_covers_and_stays_within_its_bounds(count: int) -> None:
    bounds = bounds_of_metric("mean", Apply("/", (Read("acted_false"), Read("acted"))), 30.0)
    draws, times = np.random.default_rng(7), 300
    covered = 0
    for _ in range(times):
        each = draws.beta(8.0, 0.4, count)
        low, high = MetricEstimate(
            what="mean", each=each, replications=np.arange(count), within=(0.0, 1.0), bounds=bounds
        ).ends
        assert 0.0 <= low <= high <= 1.0
        covered += low <= 8.0 / 8.4 <= high
    assert covered / times >= 0.93


def test_bounds_follow_from_what_a_value_is_made_of() -> None:
    right = Read("right(a)")
    assert value_bounds(Apply("-", (Number(1.0), right))) == (0.0, 1.0)
    assert value_bounds(Apply("*", (right, Number(-2.0)))) == (-2.0, 0.0)
    assert value_bounds(Apply("abs", (Apply("-", (right, right)),))) == (0.0, 1.0)
    assert bounds_of_metric("peak_time", right, 30.0) == (0.0, 30.0)
    assert bounds_of_metric("last", Read("sal(a)"), 30.0) == (-np.inf, np.inf)
