"""Pages of the manual: Markdown files of this folder, and pages generated from the code."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING

from malsim.base.errors import UsageError, nearest
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


@dataclass(frozen=True)
class Page:
    """Manual page: its `topic` (section/name), its `title`, and `read`, which returns its Markdown."""

    topic: str
    title: str
    read: Callable[[], str]

    @property
    def section(self) -> str:
        """Section of the page."""
        return self.topic.partition("/")[0]

    @property
    def name(self) -> str:
        """Name of the page within its section."""
        return self.topic.partition("/")[2]


def pages() -> list[Page]:
    """Return all pages, sorted by section and name."""
    files_pages = [
        _file_page(f"{section}/{entry.name.removesuffix('.md')}", entry)
        for section in SECTIONS
        for entry in _files(files("malsim.showing.manual").joinpath(section))
        if entry.name.endswith(".md")
    ]
    generated = [_generated_page(topic, title, make) for topic, (title, make) in GENERATED.items()]
    order = list(SECTIONS)
    return sorted(files_pages + generated, key=lambda page: (order.index(page.section), page.name))


def page(topic: str) -> Page:
    """Return the page of a topic, given in full (tune/studies), by its name alone, or by the heading of a section (decay).

    Raises
    ------
    UsageError
        If no page or section has this name; the hint names the nearest.
    """
    every = pages()
    for whole in every:
        if topic in (whole.topic, whole.name):
            return whole
    sections = {section.name: section for whole in every for section in _sections(whole)}
    if topic in sections:
        return sections[topic]
    names = [whole.name for whole in every]
    raise UsageError("no such page", given=topic, hint=nearest(topic, [*names, *sections], "`malsim docs` lists all"))


def _sections(page: Page) -> Iterator[Page]:
    """Yield each section of a page of text as a page of its own."""
    if page.name in ("extend", "metrics", "commands") or page.section != "reference":
        for part in re.split(r"^## ", page.read(), flags=re.MULTILINE)[1:]:
            title, _, text = part.partition("\n")
            raised = re.sub(r"^##(?=#* )", "#", text, flags=re.MULTILINE)
            yield Page(f"{page.section}/{title.lower().replace(' ', '-')}", title, partial(str, f"# {title}\n{raised}"))


def _files(folder: Traversable) -> Iterator[Traversable]:
    for entry in folder.iterdir():
        yield from _files(entry) if entry.is_dir() else (entry,)


def _file_page(topic: str, entry: Traversable) -> Page:
    text = entry.read_text(encoding="utf-8")
    return Page(topic, text.partition("\n")[0].lstrip("# ").strip(), lambda: _with_tables(text))


def _with_tables(text: str) -> str:
    """Return a page with each line `$NAME` replaced by the table that is made from declarations."""
    return "\n".join(PARTS[line[1:]]() if line[:1] == "$" and line[1:] in PARTS else line for line in text.split("\n"))


def _generated_page(topic: str, title: str, make: Callable[[], str]) -> Page:
    return Page(topic, title, lambda: f"# {title}\n\n{make()}")
