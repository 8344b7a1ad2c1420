"""Tests that the manual's static site works without a network."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from malsim.showing.manual.pages import build, pages

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_site_and_search_work_from_a_local_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = [page for page in pages() if page.topic in {"tune/tune", "explanation/law", "memories/store"}]
    monkeypatch.setattr(sys.modules[build.__module__], "pages", lambda: few)
    site = tmp_path / "site"
    paths = build(site)
    assert all(path.is_file() for path in paths)
    assert [path.stem for path in paths] == ["index", *(page.name for page in few)]
    search = (site / "search.html").read_text(encoding="utf-8")
    assert 'src="searchindex.js"' in search
    assert "glossari" in (site / "searchindex.js").read_text(encoding="utf-8")
    pictures = re.findall(r'<img[^>]*src="([^"]*)"', (site / "memories" / "store.html").read_text(encoding="utf-8"))
    assert pictures
    assert all((site / "memories" / picture).is_file() for picture in pictures)
    for path in paths:
        assert not re.search(r"<(script|link)[^>]*=\"https?://", path.read_text(encoding="utf-8"))
