"""The pages as a small static site: one HTML file a page, no script, nothing fetched."""

from __future__ import annotations

import html
import re
from importlib.resources import files
from typing import TYPE_CHECKING

from malsim.base.errors import UsageError
from malsim.base.outputs import save_text
from malsim.docs.pages import SECTIONS, pages

if TYPE_CHECKING:
    from pathlib import Path

    from malsim.docs.pages import Page

__all__ = ["build"]


def build(folder: Path) -> list[Path]:
    """Write every page as HTML, and index.html; returns the paths.

    Raises
    ------
    UsageError
        Where markdown-it-py is not installed.
    """
    try:
        from markdown_it import MarkdownIt
    except ImportError:
        raise UsageError("HTML pages need markdown-it-py", hint='pip install "malsim[docs]"') from None
    parser = MarkdownIt("commonmark").enable("table")
    folder.mkdir(parents=True, exist_ok=True)
    every = pages()
    paths = [_write(folder / _file(page), page, every, _with_html_links(parser.render(page.read()))) for page in every]
    return [_write(folder / "index.html", None, every, _contents(every)), *paths]


def _style() -> str:
    return files("malsim.docs").joinpath("site.css").read_text(encoding="utf-8")


def _file(page: Page) -> str:
    return page.topic.replace("/", "-") + ".html"


def _with_html_links(text: str) -> str:
    """Links from page to page, which are to Markdown files beside each other, as links to HTML files."""
    return re.sub(r'href="(?:\.\./)?(\w+)/([\w-]+)\.md(#[\w-]*)?"', r'href="\1-\2.html\3"', text)


def _contents(every: list[Page]) -> str:
    parts = ["<h1>malsim</h1><p>A test bench for agent memories that many writers share.</p>"]
    for section, name in SECTIONS.items():
        items = "".join(f'<li><a href="{_file(p)}">{html.escape(p.title)}</a></li>' for p in every if p.section == section)
        parts.append(f"<h2>{name}</h2><ul>{items}</ul>")
    return "".join(parts)


def _write(path: Path, page: Page | None, every: list[Page], body: str) -> Path:
    title = page.title if page else "malsim"
    home = '<a class="home" href="index.html">malsim: all pages</a>' if page else ""  # a phone shows the navigation last
    text = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{_style()}</style></head>"
        f"<body><nav>{_navigation(page, every)}</nav><main>{home}{body}</main></body></html>\n"
    )
    save_text(path, text)
    return path


def _navigation(current: Page | None, every: list[Page]) -> str:
    parts = ['<a href="index.html"><strong>malsim</strong></a>']
    for section, name in SECTIONS.items():
        parts.append(f"<h2>{name.partition(':')[0]}</h2>")
        for page in every:
            if page.section == section:
                here = ' aria-current="page"' if current and page.topic == current.topic else ""
                parts.append(f'<a href="{_file(page)}"{here}>{html.escape(page.title)}</a>')
    return "".join(parts)
