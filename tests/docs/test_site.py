"""The manual as a site: it is whole, opens from a folder, and its search fetches nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from malsim.showing.manual import site
from malsim.showing.manual.pages import pages

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_pages_and_their_search_open_from_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = [item for item in pages() if item.topic in {"tune/tune", "explanation/law", "memories/store"}]
    monkeypatch.setattr(site, "pages", lambda: few)
    paths = site.build(tmp_path / "site")
    assert all(path.is_file() for path in paths)
    assert [path.stem for path in paths] == ["index", *(item.name for item in few)]
    search = (tmp_path / "site" / "search.html").read_text(encoding="utf-8")
    assert 'src="searchindex.js"' in search
    assert "glossari" in (tmp_path / "site" / "searchindex.js").read_text(encoding="utf-8")
    pictures = re.findall(
        r'<img[^>]*src="([^"]*)"', (tmp_path / "site" / "memories" / "store.html").read_text(encoding="utf-8")
    )
    assert pictures
    assert all((tmp_path / "site" / "memories" / picture).is_file() for picture in pictures)
    for path in paths:
        assert not re.search(r"<(script|link)[^>]*=\"https?://", path.read_text(encoding="utf-8"))
