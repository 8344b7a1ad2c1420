"""What every page is made of: text that is safe to show, figures as PNG inside the page."""

from __future__ import annotations

import base64
import html
import io
from typing import TYPE_CHECKING

from malsim.base.plain_text import plain_text

if TYPE_CHECKING:
    from malsim.showing.plots.style import Sheet


def text(words: str) -> str:
    """Words of others as HTML: credentials withheld, marks escaped.

    >>> text("a < b")
    'a &lt; b'
    """
    return html.escape(plain_text(words))


def png(figure: Sheet, *, dpi: int) -> bytes:
    """The figure as PNG."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi)
    return buffer.getvalue()


def image(picture: bytes, *, alt: str) -> str:
    """The tag of a PNG that stands inside the page."""
    return f'<img alt="{text(alt)}" src="data:image/png;base64,{base64.b64encode(picture).decode()}">'
