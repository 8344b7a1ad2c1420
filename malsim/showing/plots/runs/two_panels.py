"""Two panels with the same stream of claims under two laws, on a common scale."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.showing.plots.style import COLOURS, DASHES, GREY, dress, headline, sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from malsim.showing.plots.style import Sheet

MOST = 6  # lines a panel
SHORT = 3.0  # days; a shorter run counts hours


def two_panels(sides: Sequence[tuple[str, pl.DataFrame]], *, title: str = "") -> Sheet:
    """Draw frames of cells (t in days, cell, rank or effective, status), one panel each; a cross marks a removal."""
    figure = sheet(8.6, 3.1)
    panels = np.atleast_1d(figure.subplots(1, max(1, len(sides)), sharex=True, sharey=True))
    for axes, (name, cells) in zip(panels, sides, strict=False):
        column = "rank" if "rank" in cells.columns else "effective"
        names = cells["cell"].unique(maintain_order=True).to_list() if cells.height else []
        hours = cells["t"].to_numpy().max(initial=0.0) <= SHORT
        for number, cell in enumerate(names[:MOST]):
            _line(axes, cells.filter(pl.col("cell") == cell), column, number, scale=24.0 if hours else 1.0)
        dress(axes, x="time (hours)" if hours else "time (days)", y="", title=textwrap.fill(name, 46))
        if len(names) > MOST:
            axes.plot([], [], color="none", label=f"{len(names) - MOST} more")
        axes.legend(frameon=False, fontsize=8)
    panels[0].set_ylabel("score (rank, or effective)")
    low, high = panels[0].get_ylim()
    panels[0].set_ylim(min(low, 0.0), high)
    headline(figure, title)
    return figure


def _line(axes: Axes, line: pl.DataFrame, column: str, number: int, *, scale: float) -> None:
    live = line.filter(pl.col("status") == "active") if "status" in line.columns else line
    colour, dash = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)]
    axes.plot(live["t"] * scale, live[column], color=colour, linestyle=dash, linewidth=1.6, label=line["cell"][0])
    if live.height < line.height:
        end = float(line.filter(pl.col("status") != "active")["t"].to_numpy().min()) * scale
        axes.plot([end], [0.0], "x", color=GREY, markersize=9, markeredgewidth=2, clip_on=False)
        axes.annotate(" gone", (end, 0.0), fontsize=8, color=GREY, va="bottom")
