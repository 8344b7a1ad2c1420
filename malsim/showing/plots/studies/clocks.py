"""The same memory under other clocks: one cell's path, and how far the ends differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.showing.plots.style import COLOURS, dress, line_styles, sheet

if TYPE_CHECKING:
    from malsim.showing.plots.style import Sheet

SMALLEST = 1e-3


def clocks(differences: pl.DataFrame, paths: pl.DataFrame, *, reference: str, title: str = "") -> Sheet:
    """Draw the cell whose effective the clocks disagree on most, under each, and what each changes at the end.

    `differences` has clock, effective, currency; `paths` has clock, t, rep, cell, effective.
    """
    figure = sheet(10.4, 4.6)
    left, right = figure.subplots(1, 2, width_ratios=[1.25, 1])
    rep, cell = _most_moved(paths)
    lines = paths.filter((pl.col("rep") == rep) & (pl.col("cell") == cell))
    names = differences["clock"].to_list()
    for name, look in zip(names, line_styles(len(names)), strict=True):
        path = lines.filter(pl.col("clock") == name)
        left.plot(
            path["t"], path["effective"], drawstyle="steps-post", linewidth=2 if name == reference else 1, label=name, **look
        )
    left.legend(frameon=False, fontsize=7, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.14))
    dress(left, x="time (d)", y=f"effective of {cell} (0 to 1)", title=title)
    place = np.arange(len(names))[::-1]
    for column, mark, colour, shift in (("effective", "o", COLOURS[0], 0.12), ("currency", "s", COLOURS[1], -0.12)):
        right.plot(differences[column], place + shift, mark, color=colour, label=f"{column}, largest over cells")
    right.set_xscale("symlog", linthresh=SMALLEST)
    right.set_xlim(-SMALLEST / 4, 1.5)
    right.set_yticks(place, names, fontsize=8)
    right.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)
    dress(right, x="|difference| at the end (1; linear below 0.001)", y="", title=f"beside {reference}")
    return figure


def _most_moved(paths: pl.DataFrame) -> tuple[int, str]:
    """The replication and cell whose effective the clocks leave furthest apart at any recorded time."""
    wide = paths.group_by("t", "rep", "cell", maintain_order=True).agg(
        gap=pl.col("effective").max() - pl.col("effective").min(), clocks=pl.len()
    )
    row = wide.sort("gap", "clocks", descending=True, maintain_order=True).row(0, named=True)
    return row["rep"], row["cell"]
