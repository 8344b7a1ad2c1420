"""Manual as a static site with search, made by Sphinx; it opens from a folder without a network."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from malsim.base.errors import UsageError
from malsim.examples import root
from malsim.showing.manual.pages import SECTIONS, pages

SETTINGS = """
project = "malsim"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "malsim"
html_show_copyright = html_show_sourcelink = html_copy_source = False
myst_heading_anchors = 3
suppress_warnings = ["myst.header", "myst.xref_missing", "misc.highlighting_failure"]
"""
PICTURE = re.compile(r"!\[([^\]]*)\]\((?:\.\./)*(scenarios/[\w./]+)\)")


def build(folder: Path) -> list[Path]:
    """Write every page as HTML, and index.html first; returns the paths.

    Raises
    ------
    UsageError
        If Sphinx, MyST or furo are not installed, or the folder cannot be written.
    """
    try:
        import furo  # noqa: F401  # Sphinx loads it, and the reader, by name
        import myst_parser  # noqa: F401
        from sphinx.cmd.build import build_main
    except ImportError:
        raise UsageError("HTML pages need Sphinx, MyST and furo", hint='pip install "malsim[docs]"') from None
    with TemporaryDirectory() as temporary:
        _write(Path(temporary))
        if build_main(["-q", "-b", "html", "-d", f"{temporary}/.doctrees", temporary, str(folder)]):
            raise UsageError("the pages could not be written", given=str(folder), hint="see the lines printed above")
    return [folder / "index.html", *(folder / f"{entry.topic}.html" for entry in pages())]


def _write(source: Path) -> None:
    """Write the Markdown of all pages, an index, and the settings of Sphinx."""
    every, index = pages(), ["# malsim", "A simulator and op workbench for memories that many agents write into."]
    for section, name in SECTIONS.items():
        section_pages = [page for page in every if page.section == section]
        index.append(
            "\n".join(
                ["```{toctree}", f":caption: '{name}'", ":maxdepth: 1", *(entry.topic for entry in section_pages), "```"]
            )
        )
        (source / section).mkdir()
        for page in section_pages:
            (source / f"{page.topic}.md").write_text(_with_pictures(page.read(), source), encoding="utf-8")
    (source / "index.md").write_text("\n\n".join(index), encoding="utf-8")
    (source / "conf.py").write_text(SETTINGS, encoding="utf-8")


def _with_pictures(text: str, source: Path) -> str:
    """Copy the pictures of a page into the source folder and return the page; leave out pictures that are not shipped."""

    def moved(picture: re.Match[str]) -> str:
        if not (root() / picture[2]).is_file():
            return ""
        (source / picture[2]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root() / picture[2], source / picture[2])
        return f"![{picture[1]}](/{picture[2]})"

    return PICTURE.sub(moved, text)
