"""A comparison of laws as one page that opens offline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from malsim.showing.pages.page_parts import image, text

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:64rem;padding:0 1rem}"
    "table{border-collapse:collapse}td,th{padding:.25rem .8rem .25rem 0;text-align:left;border-bottom:1px solid #8884}"
    "td.number{font-variant-numeric:tabular-nums}img{max-width:100%}"
)
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
    """The page: the figure (a PNG), what was not asked, and every row of the table."""
    head = "".join(f"<th>{name.replace('_', ' ')}</th>" for name in COLUMNS)
    rows = "".join("<tr>" + "".join(_cell(row[name]) for name in COLUMNS) + "</tr>" for row in frame.to_dicts())
    notes = "".join(f"<p>Skipped: {text(line)}</p>" for line in left_out)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{text(title)}</title>'
        f"<style>{STYLE}</style></head><body><h1>Laws side by side</h1><p>{text(title)}. Intervals are 95 %; "
        "differences are from the first law, paired.</p>"
        f"{image(picture, alt='a panel a metric, a row a law')}{notes}<table><tr>{head}</tr>{rows}</table></body></html>\n"
    )


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f'<td class="number">{value:.4f}</td>'
    return f"<td>{'' if value is None else text(str(value))}</td>"
