"""Figure of a scenario's checks, with a panel for each value and its required region, and a lane for each kind of event."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.showing.plots.style import COLOURS, GREY, dress, event_lanes, headline, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from malsim.showing.plots.style import Sheet

SAFE, BROKEN = COLOURS[2], COLOURS[5]
MOST_MARKS = 400


def checked(
    lines: pl.DataFrame,
    regions: pl.DataFrame,
    bands: pl.DataFrame,
    events: pl.DataFrame,
    witnesses: pl.DataFrame,
    *,
    title: str = "",
) -> Sheet | None:
    """Draw the checked values over time, with the regions that the checks require. Return None if there are no values.

    `lines` has panel, t (days), middle, low, high. `regions` has panel, begins, ends (days), low, high (null: unbounded),
    passed. `bands` has panel, t, low, high around a baseline. `events` has t, kind. `witnesses` has panel and t, the time
    at which a check was decided to fail.
    """
    names = lines["panel"].unique(maintain_order=True).to_list()
    if not names:
        return None
    kinds = events["kind"].unique(maintain_order=True).to_list()
    heights = [1.7] * len(names) + ([0.45 + 0.2 * len(kinds)] if kinds else [])
    figure = sheet(8.6, 0.8 + sum(heights))
    panels = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    for axes, name in zip(panels, names, strict=False):
        in_panel = pl.col("panel") == name
        _panel(axes, lines.filter(in_panel), bands.filter(in_panel))
        _regions(axes, regions.filter(in_panel))
        for day in witnesses.filter(in_panel)["t"]:
            axes.axvline(day, color=BROKEN, linewidth=1.0, linestyle=(0, (2, 2)))
        dress(axes, x="", y="")
        axes.set_title(textwrap.shorten(name, 110, placeholder=" …"), loc="left", fontsize=9)
    if kinds:
        event_lanes(panels[-1], events, kinds, most=MOST_MARKS, color="#222222", markersize=7)
    panels[-1].set_xlabel("time (days)")
    headline(figure, title)
    return figure


def _panel(axes: Axes, line: pl.DataFrame, band: pl.DataFrame) -> None:
    if band.height:
        axes.fill_between(band["t"], band["low"], band["high"], step="post", color=GREY, alpha=0.3, linewidth=0)
    short = line.height < 2  # noqa: PLR2004  # a single tick makes no line
    look: dict[str, Any] = {"color": COLOURS[0], "linewidth": 1.4, "drawstyle": "steps-post"}
    axes.plot(line["t"], line["middle"], marker="o" if short else None, **look)
    if (line["low"] < line["high"]).any():
        axes.fill_between(line["t"], line["low"], line["high"], step="post", color=COLOURS[0], alpha=0.18, linewidth=0)
    axes.margins(y=0.15)


def _regions(axes: Axes, regions: pl.DataFrame) -> None:
    """Shade the region in which each value must lie. An unbounded region extends to the edge of the panel."""
    bounds = [bound for name in ("low", "high") for bound in regions[name].drop_nulls()]
    bottom, top = axes.get_ylim()
    reach = 0.06 * (top - bottom)
    axes.set_ylim(min([bottom, *(bound - reach for bound in bounds)]), max([top, *(bound + reach for bound in bounds)]))
    bottom, top = axes.get_ylim()
    for row in regions.to_dicts():
        colour = SAFE if row["passed"] else BROKEN
        low, high = (bottom if row["low"] is None else row["low"]), (top if row["high"] is None else row["high"])
        ends = max(row["ends"], row["begins"] + 1e-6)
        look: dict[str, Any] = {"color": colour, "alpha": 0.16, "linewidth": 0}
        axes.fill_between([row["begins"], ends], low, high, hatch=None if row["passed"] else "//", **look)
        for level in (row["low"], row["high"]):
            if level is not None:
                axes.hlines(level, row["begins"], ends, color=colour, linewidth=1.0)
