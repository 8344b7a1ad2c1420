"""Prices section of a page: the figure, the table, and the shortest lie that each memory believes."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from malsim.judging.axioms.engine.events import event_table
from malsim.showing.pages.page_parts import table, text

if TYPE_CHECKING:
    from malsim.judging.prices.prices import Price, PriceTable


def price_section(prices: PriceTable, title: str) -> str:
    """Return the section as HTML, its figure as SVG."""
    picture = io.StringIO()
    prices.figure().savefig(picture, format="svg")
    svg, first = picture.getvalue(), prices.prices[0]
    head = ["memory", *first.lie, *(f"truth: {way}" for way in first.truth), "lie", "identities", "truth", "gap"]
    return (
        f"<h1>{text(title)}</h1><p>Steps until a memory doubts / answers otherwise; – is over the most tried.</p>"
        f"<figure>{svg[svg.index('<svg') :]}</figure><div class='prices'>{table(head, map(_row, prices.prices))}</div>"
        f"{''.join(map(_shortest_lie, prices.prices))}"
    )


def _row(price: Price) -> str:
    counts = [f"{_number(each.doubt)}/{_number(each.price)}" for each in (*price.lie.values(), *price.truth.values())]
    least = map(_number, (price.lie_claims, price.lie_identities, price.truth_claims, price.gap))
    return f"<tr><th>{text(price.memory)}</th>{''.join(f'<td>{each}</td>' for each in (*counts, *least))}</tr>"


def _shortest_lie(price: Price) -> str:
    events = event_table(price.witness) if price.witness else "none was found"
    return f"<h2>{text(price.memory)}</h2><p>The shortest lie that it believes:</p><pre>{text(events)}</pre>"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"
