"""Hypothesis for every test: no clock, and the same examples each run; HYPOTHESIS_PROFILE=search looks further."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hypothesis import settings

if TYPE_CHECKING:
    import pytest

settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let long runs of tests/fuzz be asked for."""
    parser.addoption("--fuzz-seconds", type=float, default=0.0, metavar="N", help="try inputs of each format for so long")
