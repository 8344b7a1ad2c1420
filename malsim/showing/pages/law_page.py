"""A comparison of laws as one page that opens offline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from malsim.showing.pages.page_parts import image, page, table, text

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

COLUMNS = (
    "data",
    "law",
    "metric",
    "value",
    "low",
    "high",
    "n",
    "difference",
    "difference_low",
    "difference_high",
    "beyond",
)


def law_page(frame: pl.DataFrame, picture: bytes, *, title: str, left_out: Iterable[str] = ()) -> str:
    """Return the page: the figure (a PNG), what was not asked, and every row of the table."""
    rows = ("<tr>" + "".join(_cell(row[name]) for name in COLUMNS) + "</tr>" for row in frame.to_dicts())
    notes = "".join(f"<p>Skipped: {text(line)}</p>" for line in left_out)
    body = (
        f"<h1>Laws side by side</h1><p>{text(title)}. Intervals are 95 %; "
        "differences are from the first law, paired.</p>"
        f"{image(picture, alt='a panel a metric, a row a law')}{notes}"
        f"{table((name.replace('_', ' ') for name in COLUMNS), rows)}"
    )
    return page(title, body)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"<td>{value:.4f}</td>"
    return f"<td>{'' if value is None else text(str(value))}</td>"
