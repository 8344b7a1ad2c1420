"""Pages of the manual, available as Markdown and as a static HTML site."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from malsim.base.errors import UsageError, nearest
from malsim.base.files.outputs import writing
from malsim.examples import root
from malsim.showing.manual.generate import GENERATED, PARTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from importlib.resources.abc import Traversable

SECTIONS = {
    "tutorial": "Tutorial",
    "tune": "Tune formulas",
    "test": "Test regression scenarios",
    "teach": "Teach the HAL analogy",
    "validate": "Validate tripwires",
    "memories": "Bring, keep and compare memories",
    "reference": "Reference",
    "explanation": "Explanation",
}

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


@dataclass(frozen=True)
class Page:
    """Page of the manual: its `topic` (section/name), its `title`, and a function `read` that returns its Markdown."""

    topic: str
    title: str
    read: Callable[[], str]

    @property
    def section(self) -> str:
        """Section of the manual that contains the page."""
        return self.topic.partition("/")[0]

    @property
    def name(self) -> str:
        """Name of the page within its section."""
        return self.topic.partition("/")[2]


def pages() -> list[Page]:
    """Return all pages of the manual, sorted by section and name."""
    every = [Page(topic, title, partial(_generated, title, make)) for topic, (title, make) in GENERATED.items()]
    for section in SECTIONS:
        for entry in _files(files("malsim.showing.manual").joinpath(section)):
            if entry.name.endswith(".md"):
                text = entry.read_text(encoding="utf-8")
                title = text.partition("\n")[0].lstrip("# ").strip()
                every.append(Page(f"{section}/{entry.name.removesuffix('.md')}", title, partial(_with_tables, text)))
    order = list(SECTIONS)
    return sorted(every, key=lambda page: (order.index(page.section), page.name))


def page(topic: str) -> Page:
    """Return the page for a topic (tune/studies), a page name (studies) or a section (decay)."""
    every = pages()
    for entry in every:
        if topic in (entry.topic, entry.name):
            return entry
    sections = {section.name: section for entry in every for section in _sections(entry)}
    if topic in sections:
        return sections[topic]
    names = [entry.name for entry in every]
    raise UsageError(
        "no such page", given=topic, hint=nearest(topic, [*names, *sections], "run `malsim docs` to list all pages")
    )


def _sections(page: Page) -> Iterator[Page]:
    if page.name in ("extend", "metrics", "commands") or page.section != "reference":
        for part in re.split(r"^## ", page.read(), flags=re.MULTILINE)[1:]:
            title, _, text = part.partition("\n")
            raised = re.sub(r"^##(?=#* )", "#", text, flags=re.MULTILINE)
            yield Page(f"{page.section}/{title.lower().replace(' ', '-')}", title, partial(str, f"# {title}\n{raised}"))


def _files(folder: Traversable) -> Iterator[Traversable]:
    for entry in folder.iterdir():
        yield from _files(entry) if entry.is_dir() else (entry,)


def _generated(title: str, make: Callable[[], str]) -> str:
    return f"# {title}\n\n{make()}"


def _with_tables(text: str) -> str:
    """Return a page in which every line `$NAME` is replaced by a generated table."""
    return "\n".join(PARTS[line[1:]]() if line[:1] == "$" and line[1:] in PARTS else line for line in text.split("\n"))


def build(folder: Path) -> list[Path]:
    """Write all pages as HTML and return their paths, starting with index.html."""
    try:
        import furo  # noqa: F401  # loaded by Sphinx by name
        import myst_parser  # noqa: F401
        from sphinx.cmd.build import build_main
    except ImportError:
        raise UsageError(
            "the HTML pages need Sphinx, MyST and furo, which are not installed", hint='pip install "malsim[docs]"'
        ) from None
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as temporary:
        _write_sources(Path(temporary))
        if build_main(["-q", "-b", "html", "-d", f"{temporary}/.doctrees", temporary, str(folder)]):
            raise UsageError("Sphinx could not build the pages", given=str(folder), hint="read Sphinx's messages above")
    return [folder / "index.html", *(folder / f"{entry.topic}.html" for entry in pages())]


def _write_sources(source: Path) -> None:
    every, index = pages(), ["# malsim", "A simulator and op workbench for memories that many agents write into."]
    for section, name in SECTIONS.items():
        section_pages = [page for page in every if page.section == section]
        topics = "\n".join(page.topic for page in section_pages)
        index.append(f"```{{toctree}}\n:caption: '{name}'\n:maxdepth: 1\n{topics}\n```")
        (source / section).mkdir()
        for page in section_pages:
            (source / f"{page.topic}.md").write_text(_with_pictures(page.read(), source), encoding="utf-8")
    (source / "index.md").write_text("\n\n".join(index), encoding="utf-8")
    (source / "conf.py").write_text(SETTINGS, encoding="utf-8")


def _with_pictures(text: str, source: Path) -> str:
    """Copy a page's figures to the source folder, and return the page without references to missing figures."""

    def copied(picture: re.Match[str]) -> str:
        if not (root() / picture[2]).is_file():
            return ""
        (source / picture[2]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root() / picture[2], source / picture[2])
        return f"![{picture[1]}](/{picture[2]})"

    return PICTURE.sub(copied, text)
