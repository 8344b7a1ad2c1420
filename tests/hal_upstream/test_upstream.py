"""LinuxCNC's own HAL tests, run from the checkout at `MALSIM_LINUXCNC`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from malsim.cli import main

SAME = [
    "abs.0", "and-or-not-mux.0", "edge/both", "edge/both-starting-high", "edge/falling", "edge/falling-starting-high",
    "edge/rising", "edge/rising-starting-high", "flipflop.0", "limit3/limit-accel-and-max", "limit3/limit-max-velocity",
    "mux", "near.0", "source.0", "timedelay.0", "biquad", "multiclick", "ilowpass/low-gain", "ilowpass/wrap-around",
]  # fmt: skip
CHECKED = ["limit3/sunny-day", "limit3/runaway", "limit3/lock-on-input-and-limits", "limit3/min-max-overshoot"]
# upstream tests that need a component without a malsim op, each with its component
LACKING = {
    "limit3/constraints": "encoder", "threads.0": "threadtest", "counter-encoder.0": "encoder", "stepgen.0": "stepgen",
}  # fmt: skip


@pytest.fixture(scope="module")
def upstream() -> Path:
    named = os.environ.get("MALSIM_LINUXCNC")
    if not named:
        pytest.skip("set MALSIM_LINUXCNC to the path of a LinuxCNC checkout")
    return Path(named) / "tests"


def printed(test: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["hal", "-f", str(test / "test.hal")]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", SAME)
def test_upstream_script_prints_the_expected_output(name: str, upstream: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(upstream / name, capsys) == (upstream / name / "expected").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", CHECKED)
def test_upstream_checker_accepts_the_output(
    name: str, upstream: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = tmp_path / "result"
    result.write_text(printed(upstream / name, capsys), encoding="utf-8")
    checker = [sys.executable, str(upstream / name / "checkresult"), str(result)]
    done = subprocess.run(checker, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", LACKING)
def test_component_without_an_op_is_refused(name: str, upstream: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hal", "-f", str(upstream / name / "test.hal")]) == 2
    assert f"no op for this component; given: '{LACKING[name]}'" in capsys.readouterr().err
