"""Building blocks for self-contained HTML pages, and the page that compares laws."""

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

    import polars as pl

    from malsim.showing.plots.style import Sheet

LAW_COLUMNS = ("data", "law", "metric", "value", "low", "high", "n", "difference", "difference_low", "difference_high",
               "beyond")  # fmt: skip


def text(words: str) -> str:
    """Escape text for HTML and replace credentials with placeholders.

    >>> text("a < b")
    'a &lt; b'
    """
    return html.escape(plain_text(words))


def png(figure: Sheet, *, dpi: int) -> bytes:
    """Render a figure as PNG."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi)
    return buffer.getvalue()


def image(picture: bytes, *, alt: str) -> str:
    """Return an `<img>` tag with an embedded PNG."""
    return f'<img alt="{text(alt)}" src="data:image/png;base64,{base64.b64encode(picture).decode()}">'


def filled(template: str, **parts: str) -> str:
    """Read a template from this folder and return it with its placeholders replaced by the given HTML."""
    words = resources.files("malsim.showing.pages").joinpath(f"{template}.html").read_text(encoding="utf-8")
    return Template(words).substitute(parts)


def page(title: str, body: str) -> str:
    """Return a self-contained HTML page. `body` is HTML and may start with a `<style>` element."""
    return filled("page", title=text(title), body=body)


def table(head: Iterable[str], rows: Iterable[str]) -> str:
    """Return a scrollable HTML table. The header is plain text, and the rows are HTML."""
    heads = "".join(f"<th>{text(word)}</th>" for word in head)
    return f"<div class='wide'><table><tr>{heads}</tr>{''.join(rows)}</table></div>"


def law_page(frame: pl.DataFrame, picture: bytes, *, title: str, left_out: Iterable[str] = ()) -> str:
    """Return a page that compares laws, with the figure (PNG), a note for each missing result, and the full table."""
    rows = []
    for row in frame.select(LAW_COLUMNS).rows():
        cells = (f"{value:.4f}" if isinstance(value, float) else text("" if value is None else str(value)) for value in row)
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    notes = "".join(f"<p>Skipped: {text(line)}</p>" for line in left_out)
    note = f"{text(title)}. Intervals are 95 %; differences are paired, relative to the first law."
    figure = image(picture, alt="one panel per metric and one row per law")
    heads = (name.replace("_", " ") for name in LAW_COLUMNS)
    return page(title, f"<h1>Comparison of laws</h1><p>{note}</p>{figure}{notes}{table(heads, rows)}")
