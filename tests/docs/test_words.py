"""Tests that no file contains a word banned by words.toml, and that each page begins with a command to try."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.words import RULES, faults, files, python_texts, wrong

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "malsim" / "showing" / "manual").glob("*/*.md"))
ROOTS = ["malsim", "ops", "tests", "notebooks", "scenarios", "README.md", "CONTRIBUTING.md"]


@pytest.mark.parametrize("root", ROOTS)
def test_no_text_uses_a_banned_word(root: str) -> None:
    found = [fault for path in files(ROOT / root) if path.name != "words.toml" for fault in faults(path)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "source",
    [
        '"""Tool that exits 1 on a fault."""',
        "x = 1  # the tool exits 1 here",
        'raise ValueError("the tool exits 1 on a fault")',
        'print("the tool exits 1 on a fault")',
        'def f():\n    """They are returned."""',
    ],
)
def test_banned_words_are_found_in_every_kind_of_text(source: str) -> None:
    assert any(True for text in python_texts(source) for _ in wrong(text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_begins_with_a_command_to_try(page: Path) -> None:
    title, first, *_ = page.read_text(encoding="utf-8").split("\n\n")
    assert len(title) <= RULES["limits"]["page_title"]
    assert " you can " in first
