"""Access to parts that only malsim's repository has: benchmarks, streams for the standing signals, planted defects."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from malsim.base.errors import UsageError

ROOT = Path(__file__).resolve().parents[1]


def from_repository(module: str, *, where: str) -> Any:
    """Import a module of the repository that this package runs from; raise `UsageError` in an installed package."""
    if not ROOT.joinpath(*module.split(".")).with_suffix(".py").is_file():
        hint = "clone it, and install it with pip install -e '.[test,bench]'"
        raise UsageError("this command needs malsim's repository, not only the installed package", where=where, hint=hint)
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    return importlib.import_module(module)
