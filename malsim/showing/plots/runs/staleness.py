"""Staleness chart: a bar per cell, from the first day recorded until its currency has run out."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.showing.plots.style import COLOURS, dress, headline, sheet

if TYPE_CHECKING:
    from malsim.showing.plots.style import Sheet

MOST_CELLS = 30
HATCHES = ("", "///", "...")  # so that a grey print tells the classes apart


def staleness(cells: pl.DataFrame, labels: pl.DataFrame, *, stale_below: float, title: str = "") -> Sheet:
    """Draw until when each active cell is current.

    Parameters
    ----------
    cells
        t (days), cell, currency and status, of one replication.
    labels
        cell, title, stability.
    stale_below
        The currency below which a cell is stale.
    """
    active = cells.filter(pl.col("status") == "active")
    stale = active.filter(pl.col("currency") < stale_below).group_by("cell").agg(pl.col("t").min().alias("day"))
    every = active.select("cell").unique(maintain_order=True).join(stale, on="cell", how="left", maintain_order="left")
    every = every.join(labels.unique("cell"), on="cell", how="left", maintain_order="left")
    first = every.sort("day", nulls_last=True, maintain_order=True).head(MOST_CELLS)
    times = cells["t"].to_numpy()
    begin, end = float(times.min(initial=np.inf)), float(times.max(initial=0.0))
    figure = sheet(8.6, 1.6 + 0.24 * first.height)
    axes = figure.subplots()
    for place, row in enumerate(first.to_dicts()):
        order = ("stable", "volatile", "ephemeral").index(row["stability"])
        until, text = _until(row["day"], begin, end)
        axes.barh(place, until, height=0.7, color=COLOURS[order], hatch=HATCHES[order], edgecolor="white", linewidth=0,
                  label=row["stability"])  # fmt: skip
        axes.text(until, place, f"  {text}", va="center", fontsize=7)
    names = [f"{row['cell']}  {textwrap.shorten(row['title'], 44, placeholder='…')}" for row in first.to_dicts()]
    axes.set_yticks(range(first.height), names, fontsize=7)
    axes.set_ylim(first.height - 0.4, -0.6)
    axes.set_xlim(0.0, end * 1.14)
    note = f"; {every.height - first.height} more not shown" if every.height > first.height else ""
    dress(axes, x=f"time until currency is below {stale_below:g} (days){note}", y="")
    axes.grid(visible=False, axis="y")
    entries = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    figure.legend(entries.values(), entries.keys(), fontsize=7, loc="outside lower center", ncols=3, frameon=False)
    headline(figure, title)
    return figure


def _until(day: float | None, begin: float, end: float) -> tuple[float, str]:
    if day is None:
        return end, "still current"
    return (0.0, "stale already") if day == begin else (day, f"day {day:g}")
