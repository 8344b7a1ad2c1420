"""The manual's words: written pages use none that CONTRIBUTING.md replaces, and each begins with what its reader can do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "malsim" / "showing" / "manual").glob("*/*.md"))
CODE = re.compile(r"^\s*```.*?^\s*```$|`[^`\n]+`|^ {4,}[^\n]*$", flags=re.DOTALL | re.MULTILINE)
LONGEST_TITLE = 60


def forbidden_words() -> list[str]:
    """The words in code type in the right column of CONTRIBUTING.md's table."""
    _, _, table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("| we write | not |")
    return [word for row in table.splitlines() if row.startswith("|") for word in re.findall("`([^`]+)`", row.split("|")[2])]


def prose(page: Path) -> str:
    return CODE.sub(" ", page.read_text(encoding="utf-8"))


def test_contributors_have_a_list() -> None:
    assert len(forbidden_words()) >= len({*forbidden_words()}) >= 15


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_uses_none_of_them(page: Path) -> None:
    pattern = "|".join(re.escape(word).replace("\\ ", r"\s+") for word in forbidden_words())
    assert re.findall(rf"\b(?:{pattern})\b", prose(page), flags=re.IGNORECASE) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_begins_with_what_its_reader_can_do(page: Path) -> None:
    title, first, *_ = page.read_text(encoding="utf-8").split("\n\n")
    assert len(title) <= LONGEST_TITLE
    assert " you can " in first
