"""Fixtures of the memory tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Path of a store that does not exist yet."""
    return tmp_path / "memory.sqlite"
