"""Reliability of several laws in one picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from malsim.plot.style import COLOURS, dress, sheet

if TYPE_CHECKING:
    from malsim.plot.style import Sheet

__all__ = ["said_and_right"]

MARKS = "osv^D<>"


def said_and_right(table: pl.DataFrame, *, title: str = "Is an answer held at p right with frequency p?") -> Sheet:
    """Draw how often answers are right over how sure they are: a line a law, of columns law, said and right."""
    figure = sheet(6.4, 4.2)
    axes = figure.subplots()
    axes.plot([0.0, 1.0], [0.0, 1.0], color="#888888", linewidth=0.8, linestyle="--", label="as said")
    for place, (law, part) in enumerate(table.group_by("law", maintain_order=True)):
        colour, mark = COLOURS[place % len(COLOURS)], MARKS[place % len(MARKS)]
        axes.plot(part["said"], part["right"], color=colour, marker=mark, markersize=4, linewidth=1.2, label=str(law[0]))
    dress(axes, x="said (probability)", y="right (share of answers)", title=title)
    low = max(0.0, float(table.select(pl.min_horizontal(pl.col("said").min(), pl.col("right").min())).item()) - 0.05)
    axes.set_xlim(low, 1.02)
    axes.set_ylim(low, 1.02)
    axes.legend(fontsize=7, frameon=False)
    return figure
