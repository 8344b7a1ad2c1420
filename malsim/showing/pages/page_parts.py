"""Parts shared by all pages: escaped text, and figures embedded as PNG."""

from __future__ import annotations

import base64
import html
import io
from importlib import resources
from string import Template
from typing import TYPE_CHECKING

from malsim.base.plain_text import plain_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from malsim.showing.plots.style import Sheet


def text(words: str) -> str:
    """Words of others as HTML: credentials withheld, marks escaped.

    >>> text("a < b")
    'a &lt; b'
    """
    return html.escape(plain_text(words))


def png(figure: Sheet, *, dpi: int) -> bytes:
    """Return the figure as PNG."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi)
    return buffer.getvalue()


def image(picture: bytes, *, alt: str) -> str:
    """Return the tag of a PNG embedded in the page."""
    return f'<img alt="{text(alt)}" src="data:image/png;base64,{base64.b64encode(picture).decode()}">'


def filled(template: str, **parts: str) -> str:
    """Return a template of this folder with its parts, which are HTML already, filled in."""
    words = resources.files("malsim.showing.pages").joinpath(f"{template}.html").read_text(encoding="utf-8")
    return Template(words).substitute(parts)


def page(title: str, body: str) -> str:
    """Return a whole page that opens offline; `body` is HTML and may begin with a `<style>` of its own."""
    return filled("page", title=text(title), body=body)


def table(head: Iterable[str], rows: Iterable[str]) -> str:
    """Return a table whose head is words and whose rows are HTML; a wide one scrolls by itself."""
    heads = "".join(f"<th>{text(word)}</th>" for word in head)
    return f"<div class='wide'><table><tr>{heads}</tr>{''.join(rows)}</table></div>"
