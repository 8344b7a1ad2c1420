"""One number, term by term, as a waterfall."""

from __future__ import annotations

from typing import TYPE_CHECKING

from malsim.plot.style import COLOURS, dress, sheet

if TYPE_CHECKING:
    import polars as pl

    from malsim.plot.style import Sheet

__all__ = ["waterfall"]

UP, DOWN, TOTAL = COLOURS[2], COLOURS[5], COLOURS[0]


def waterfall(terms: pl.DataFrame, total: float, *, title: str = "") -> Sheet:
    """Draw terms (term, value) that add up to `total`; rising bars are hatched one way, falling ones the other."""
    figure = sheet(6.4, 3.6)
    axes = figure.subplots()
    level, least = 0.0, 0.0
    for place, value in enumerate(terms["value"]):
        rises = value >= 0
        axes.bar(
            place,
            value,
            bottom=level,
            width=0.6,
            color=UP if rises else DOWN,
            hatch="//" if rises else "\\\\",
            edgecolor="white",
        )
        level += value
        least = min(least, level)
        axes.plot([place + 0.3, place + 0.7], [level, level], color="#444444", linewidth=0.8)
        axes.annotate(f"{value:+.3f}", (place, max(level, level - value) + 0.02), ha="center", fontsize=8)
    axes.bar(terms.height, total, width=0.6, color=TOTAL)
    axes.annotate(f"{total:.3f}", (terms.height, total + 0.02), ha="center", fontsize=8)
    axes.axhline(0.0, color="#444444", linewidth=0.8)
    dress(axes, x="", y="effective confidence (0 to 1)", title=title)
    axes.set_xticks(range(terms.height + 1), [*terms["term"].to_list(), "effective"], fontsize=8)
    axes.set_ylim(1.12 * least, 1.12)
    return figure
