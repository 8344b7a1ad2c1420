"""A page of prices that opens offline: the figure, the table, and the shortest lie that each memory believes."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from malsim.base.files.outputs import save_text
from malsim.judging.axioms.engine.events import event_table
from malsim.showing.pages.page_parts import text

if TYPE_CHECKING:
    from pathlib import Path

    from malsim.judging.prices.prices import Price, PriceTable

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: clamp(.7rem, 3vw, 2rem); color: #222 }
.wide { overflow-x: auto } svg { max-width: 100%; height: auto }
table { border-collapse: collapse } td, th { padding: .15rem .6rem; text-align: right; border-bottom: 1px solid #ddd }
th:first-child { text-align: left } pre { background: #f6f6f6; padding: .7rem; white-space: pre-wrap }
"""


def write_page(table: PriceTable, path: str | Path) -> None:
    """Write the page; it asks no server for anything."""
    picture = io.StringIO()
    table.figure().savefig(picture, format="svg")
    svg = picture.getvalue()
    save_text(
        path,
        "<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
        f"<title>malsim price</title><style>{STYLE}</style><h1>What a lie costs, what the truth costs</h1>"
        "<p>Steps until a memory doubts / answers otherwise; – is over the most tried.</p>"
        f"{svg[svg.index('<svg') :]}<div class='wide'><table>{_head(table.prices[0])}"
        f"{''.join(map(_row, table.prices))}</table></div>{''.join(map(_section, table.prices))}</html>",
    )


def _head(first: Price) -> str:
    names = ["memory", *first.lie, *(f"truth: {way}" for way in first.truth), "lie", "identities", "truth", "gap"]
    return f"<tr>{''.join(f'<th>{text(name)}</th>' for name in names)}</tr>"


def _row(one: Price) -> str:
    counts = [f"{_number(each.doubt)}/{_number(each.price)}" for each in (*one.lie.values(), *one.truth.values())]
    least = map(_number, (one.lie_claims, one.lie_identities, one.truth_claims, one.gap))
    return f"<tr><th>{text(one.memory)}</th>{''.join(f'<td>{each}</td>' for each in (*counts, *least))}</tr>"


def _section(one: Price) -> str:
    listed_events = event_table(one.witness) if one.witness else "none was found"
    return f"<h2>{text(one.memory)}</h2><p>The shortest lie that it believes:</p><pre>{text(listed_events)}</pre>"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"
