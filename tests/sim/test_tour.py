"""Tests that the manual's tour of a claim names functions that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "malsim" / "showing" / "manual" / "explanation" / "law.md").read_text(encoding="utf-8")
STATIONS = re.findall(r"`(malsim/[\w/]+\.py):([\w.]+)`", TEXT)


def test_tour_has_ten_stops() -> None:
    assert re.findall(r"^(\d+)\. ", TEXT, flags=re.MULTILINE) == [str(number) for number in range(1, 11)]


@pytest.mark.parametrize(("path", "name"), STATIONS)
def test_function_named_in_the_tour_exists(path: str, name: str) -> None:
    body = ast.parse((ROOT / path).read_text(encoding="utf-8")).body
    for part in name.split("."):
        found = [node for node in body if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == part]
        assert found, f"{path} has no {name}"
        body = found[0].body
