"""Laws on real claims as curves: how sure they are against how often they are right, and what more gossips do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from malsim.showing.plots.style import dress, mark, sheet

if TYPE_CHECKING:
    from malsim.showing.plots.style import Sheet

__all__ = ["gossips", "said_and_right"]


def said_and_right(table: pl.DataFrame) -> Sheet:
    """Draw how often answers are right over how sure they are: a line a law, of columns law, said and right."""
    figure = sheet(6.4, 4.2)
    axes = figure.subplots()
    axes.plot([0.0, 1.0], [0.0, 1.0], color="#888888", linewidth=0.8, linestyle="--", label="as said")
    for place, (law, part) in enumerate(table.group_by("law", maintain_order=True)):
        axes.plot(part["said"], part["right"], markersize=4, linewidth=1.2, label=str(law[0]), **mark(place))
    dress(axes, x="said (probability)", y="right (share of answers)", title="Is an answer held at p right with frequency p?")
    low = max(0.0, float(table.select(pl.min_horizontal(pl.col("said").min(), pl.col("right").min())).item()) - 0.05)
    axes.set_xlim(low, 1.02)
    axes.set_ylim(low, 1.02)
    axes.legend(fontsize=7, frameon=False)
    return figure


def gossips(table: pl.DataFrame) -> Sheet:
    """Draw setting, gossips, accuracy: a line a setting over the number of gossips, those that agree drawn as one."""
    figure = sheet(7.2, 4.2)
    axes = figure.subplots()
    counts = table["gossips"].unique(maintain_order=True).to_list()
    lines: dict[tuple[float, ...], list[str]] = {}
    for (name,), part in table.group_by("setting", maintain_order=True):
        lines.setdefault(tuple(part["accuracy"].round(3).to_list()), []).append(str(name))
    for place, (values, names) in enumerate(lines.items()):
        axes.plot(range(len(counts)), values, markersize=5, label="\n".join(names), **mark(place))
    dress(
        axes,
        x="gossips who tell the same",
        y="right (share of changes, asked 30 days later)",
        title="What more gossips of one story do",
    )
    axes.set_xticks(range(len(counts)), [str(count) for count in counts])
    axes.set_ylim(0.0, 1.05)
    axes.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.set_layout_engine("tight")
    return figure
