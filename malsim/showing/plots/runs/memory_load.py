"""Figures of the work that a memory needs: reviews of disputes, and cells that become stale."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.showing.plots.style import COLOURS, dress, headline, intervals, mark, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from malsim.showing.plots.style import Sheet


def review_load(frame: pl.DataFrame, *, avoided: str, load: str, autonomy: str) -> Sheet:
    """Plot avoided errors, paired differences and review load of triage policies, with one row of panels per scenario.

    Left: errors avoided under the last budget. Middle: paired differences from the first policy, which can be significant
    even if the intervals on the left overlap. Right: share of turns that ended in a right action against reviews per 100
    actions, with one line per policy over the budgets; empty without a reader.
    """
    names = frame["scenario"].unique(maintain_order=True).to_list()
    policies = frame["policy"].unique(maintain_order=True).to_list()
    figure = sheet(13.0, 0.9 + 2.9 * len(names))
    panels = np.atleast_2d(figure.subplots(len(names), 3, width_ratios=[1, 1, 1.3]))
    for (left, middle, right), name in zip(panels, names, strict=True):
        policy_rows = frame.filter(scenario=name)
        last = policy_rows.filter(metric=avoided, weekly=policy_rows["weekly"][-1])
        _bars(left, last.select("value", "low", "high"), policies)
        dress(left, x=f"{avoided} (95 %)", y="", title=name)
        _bars(middle, last.select("difference", "difference_low", "difference_high"), policies)
        middle.axvline(0.0, color="0.4", linewidth=1, linestyle="--")
        dress(middle, x=f"difference from {policies[0]}, paired (95 %)", y="", title=f"against {policies[0]}")
        for number, policy in enumerate(policies):
            line = policy_rows.filter(policy=policy)
            x, y = (line.filter(metric=metric)["value"] for metric in (load, autonomy))
            right.plot(x, y, markersize=5, linewidth=1, label=policy, **mark(number))
        dress(right, x=load, y="right actions per turn (1)", title="autonomy against load on people")
    panels[0, 2].legend(frameon=False, fontsize=8, ncols=2)
    return figure


def _bars(axes: Axes, rows: pl.DataFrame, policies: list[str]) -> None:
    bar_rows = np.arange(len(policies))[::-1]
    for number, bar_row in enumerate(bar_rows):
        intervals(axes, rows[number], [bar_row], number)
    axes.set_yticks(bar_rows, policies, fontsize=9)
    axes.set_ylim(-0.6, len(policies) - 0.4)


MOST_CELLS = 30
HATCHES = ("", "///", "...")  # hatch patterns, so that the classes differ in a greyscale print


def staleness(cells: pl.DataFrame, labels: pl.DataFrame, *, stale_below: float, title: str = "") -> Sheet:
    """Draw the time until each active cell's currency falls below `stale_below`.

    `cells` has t (days), cell, currency and status, from a single replication; `labels` has cell, title, stability.
    """
    active = cells.filter(pl.col("status") == "active")
    stale = active.filter(pl.col("currency") < stale_below).group_by("cell").agg(pl.col("t").min().alias("day"))
    rows = active.select("cell").unique(maintain_order=True).join(stale, on="cell", how="left", maintain_order="left")
    rows = rows.join(labels.unique("cell"), on="cell", how="left", maintain_order="left")
    first = rows.sort("day", nulls_last=True, maintain_order=True).head(MOST_CELLS)
    times = cells["t"].to_numpy()
    begin, end = float(times.min(initial=np.inf)), float(times.max(initial=0.0))
    figure = sheet(8.6, 1.6 + 0.24 * first.height)
    axes = figure.subplots()
    for bar_row, row in enumerate(first.to_dicts()):
        order, day = ("stable", "volatile", "ephemeral").index(row["stability"]), row["day"]
        until, text = (end, "still current") if day is None else (day, f"day {day:g}")
        until, text = (0.0, "stale already") if day == begin else (until, text)
        axes.barh(bar_row, until, height=0.7, color=COLOURS[order], hatch=HATCHES[order], edgecolor="white", linewidth=0,
                  label=row["stability"])  # fmt: skip
        axes.text(until, bar_row, f"  {text}", va="center", fontsize=7)
    names = [f"{row['cell']}  {textwrap.shorten(row['title'], 44, placeholder='…')}" for row in first.to_dicts()]
    axes.set_yticks(range(first.height), names, fontsize=7)
    axes.set_ylim(first.height - 0.4, -0.6)
    axes.set_xlim(0.0, end * 1.14)
    note = f"; {rows.height - first.height} more not shown" if rows.height > first.height else ""
    dress(axes, x=f"time until currency is below {stale_below:g} (days){note}", y="")
    axes.grid(visible=False, axis="y")
    entries = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    figure.legend(entries.values(), entries.keys(), fontsize=7, loc="outside lower center", ncols=3, frameon=False)
    headline(figure, title)
    return figure
