"""Find the pages: Markdown files of this folder, and those that are made when they are read."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from malsim.base.errors import UsageError, nearest
from malsim.showing.manual.generate import GENERATED, PARTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from importlib.resources.abc import Traversable

SECTIONS = {
    "tutorial": "Tutorial: the first hour",
    "memories": "Bring, judge and compare memories",
    "bench": "Run, test and tune",
    "wiring": "Wire and look",
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
        """The section that the page stands in."""
        return self.topic.partition("/")[0]

    @property
    def name(self) -> str:
        """The page's name within its section."""
        return self.topic.partition("/")[2]


def pages() -> list[Page]:
    """Return all pages, by section and name."""
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
    """Return the page of a topic, given in full (bench/tune) or by its name alone (tune).

    Raises
    ------
    UsageError
        Where no page has that name, with the nearest ones.
    """
    every = pages()
    for one in every:
        if topic in (one.topic, one.name):
            return one
    names = [one.name for one in every]
    raise UsageError("no such page", given=topic, hint=nearest(topic, names, "`malsim docs` lists all"))


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
