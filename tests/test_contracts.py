"""Imports run down only, as the contracts in pyproject.toml say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_imports_keep_their_contracts() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
