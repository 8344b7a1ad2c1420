"""Tests that reruns on other machines are bit-identical for equal instruction sets, and within 1e-12 otherwise."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from malsim.cli import main
from malsim.scenario.rerun import rerun
from malsim.sim.record.manifest import simd_targets

STORY = """
why = "A dispute under a law that computes tanh."
[run]
days = 4
[[claim]]
at = "0d"
writer = "ann"
handle = "dec_a3ee"
title = "a"
confidence = 0.9
[[claim]]
at = "1d"
writer = "bob"
handle = "obs_b0b1"
title = "no"
confidence = 0.7
verification = "checked"
edges = [{ relation = "contradicts", target = "dec_a3ee" }]
"""


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    path = tmp_path / "story.toml"
    path.write_text(STORY, encoding="utf-8")
    assert main(["run", str(path), "-o", str(tmp_path / "out")]) == 0
    return tmp_path / "out" / "manifest.json"


def test_manifest_records_the_instruction_sets_of_numpy(recorded: Path) -> None:
    manifest = json.loads(recorded.read_text(encoding="utf-8"))
    assert manifest["simd"] == simd_targets()
    again = rerun(recorded)
    assert again.same
    assert "bit for bit" in str(again)


@pytest.mark.parametrize("step", [1e-13, 1e-9])
def test_other_instruction_sets_are_compared_with_a_tolerance(recorded: Path, step: float) -> None:
    manifest = json.loads(recorded.read_text(encoding="utf-8")) | {"simd": ["NEON"]}
    recorded.write_text(json.dumps(manifest), encoding="utf-8")
    cells = recorded.parent / "cells.parquet"
    pl.read_parquet(cells).with_columns(pl.col("effective") + step).write_parquet(cells)
    again = rerun(recorded)
    assert again.same == (step < 1e-12)
    assert "recorded NEON" in str(again)
    assert "within 1e-12" in str(again)


def test_run_is_the_same_without_wide_simd_instructions(recorded: Path) -> None:
    wide = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    if not wide:
        pytest.skip("numpy uses no SIMD extensions on this machine")
    environment = {**os.environ, "NPY_DISABLE_CPU_FEATURES": " ".join(wide)}
    command = [sys.executable, "-m", "malsim", "run", "--manifest", str(recorded)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "numpy computes with" in done.stdout
