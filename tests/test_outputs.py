"""Tests that output files are complete or absent, and that leftovers of killed commands are removed."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from malsim.base.files.outputs import folder_of_files, save_text, whole_file
from malsim.cli import main

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs POSIX processes")
KILLED = """
import os, signal, sys
from malsim.base.files.outputs import whole_file
with whole_file(sys.argv[1]) as partial:
    partial.write_text("half")
    print(flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""
ATLAS = Path(__file__).parents[1] / "scenarios/stores/atlas.json"


def killed(folder: Path) -> Path:
    done = subprocess.run([sys.executable, "-c", KILLED, str(folder / "a.txt")], check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL
    (abandoned,) = folder.iterdir()
    return abandoned


def test_next_command_removes_leftovers_of_a_killed_command(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    abandoned = killed(tmp_path)
    with caplog.at_level(logging.WARNING, logger="malsim"):
        save_text(tmp_path / "b.txt", "whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.txt"]
    assert abandoned.name in caplog.text


def test_import_removes_leftovers_of_a_killed_command(tmp_path: Path) -> None:
    killed(tmp_path)
    assert main(["import", str(ATLAS), "-o", str(tmp_path / "m.sqlite")]) == 0
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".writing")]


def test_partial_files_of_running_commands_are_kept(tmp_path: Path) -> None:
    (tmp_path / ".writing-notes").mkdir()
    with folder_of_files(tmp_path / "out"), whole_file(tmp_path / "a.txt") as partial:
        partial.write_text("a", encoding="utf-8")
        assert len([path for path in tmp_path.iterdir() if path.name.startswith(".writing-")]) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == [".writing-notes", "a.txt", "out"]
