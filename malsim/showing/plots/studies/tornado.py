"""Sensitivity of a metric: a tornado of single moves, and Sobol indices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.showing.plots.style import COLOURS, GREY, dress, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from malsim.showing.plots.style import Sheet

MOST = 20


def tornado(moves: pl.DataFrame, *, base: float, label: str, title: str = "") -> Sheet:
    """Draw how far each move takes a metric from its base, the widest swing on top (the first twenty that swing it).

    `moves` has setting, to, difference, low, high, swing, flat.
    """
    swinging = moves.filter(~pl.col("flat"))
    names = swinging["setting"].unique(maintain_order=True).to_list()
    first = names[:MOST]
    figure = sheet(8.6, 1.6 + 0.34 * max(len(first), 2))
    axes = figure.subplots()
    for place, name in enumerate(reversed(first)):
        rows = swinging.filter(pl.col("setting") == name).sort("difference")
        for row in rows.to_dicts():
            up = row["difference"] >= 0.0
            axes.barh(place, row["difference"], left=base, height=0.62, color=COLOURS[0] if up else COLOURS[1], alpha=0.85,
                      hatch=None if up else "//", edgecolor="white", linewidth=0.5)  # fmt: skip
            if row["low"] is not None:
                axes.plot([base + row["low"], base + row["high"]], [place, place], color="black", linewidth=1)
        _label_ends(axes, rows, base, place)
    axes.axvline(base, color=GREY, linewidth=1, linestyle="--")
    axes.set_yticks(np.arange(len(first)), list(reversed(first)), fontsize=8)
    axes.margins(x=0.12)
    flat = moves["setting"].n_unique() - len(names)
    more = f"; {len(names) - len(first)} that move it less" if len(names) > len(first) else ""
    head = f"{title}\n" if title else ""
    dress(axes, x=f"{label}; the line is its 95 % interval, the numbers what was set", y="",
          title=f"{head}not drawn: {flat} that change nothing{more}")  # fmt: skip
    return figure


def _label_ends(axes: Axes, rows: pl.DataFrame, base: float, place: int) -> None:
    """Write what was set beside the lowest and the highest end of a bar; `rows` are in the order of their difference."""
    for row, down in ((rows.row(0, named=True), True), (rows.row(-1, named=True), False)):
        if rows.height > 1 or down == (row["difference"] < 0.0):
            ends = [row["difference"], row["low"] or 0.0, row["high"] or 0.0]
            end = base + (min(ends) if down else max(ends))
            behind = {"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.5}
            look: dict[str, Any] = {"xytext": (-3 if down else 3, 0), "textcoords": "offset points", "bbox": behind}
            axes.annotate(row["to"], (end, place), ha="right" if down else "left", va="center", fontsize=7, **look)


def indices(shares: pl.DataFrame, *, label: str, title: str = "") -> Sheet:
    """Draw first and total Sobol indices with their intervals (setting, first, first_low, …, total_high), largest on top."""
    rows = shares.sort("total")
    figure = sheet(7.6, 1.5 + 0.42 * max(rows.height, 2))
    axes = figure.subplots()
    place = np.arange(rows.height)
    for name, mark, shift, text in (("total", "s", 0.14, "total: with the others"), ("first", "o", -0.14, "first: alone")):
        value, low, high = (rows[column].to_numpy() for column in (name, f"{name}_low", f"{name}_high"))
        reach = np.maximum([value - low, high - value], 0.0)
        colour = COLOURS[0] if name == "first" else COLOURS[1]
        axes.errorbar(value, place + shift, xerr=reach, fmt=mark, color=colour, capsize=3, label=text)
    axes.axvline(0.0, color=GREY, linewidth=1)
    flat = rows["flat"].to_list()
    axes.set_yticks(
        place, [f"{name} (flat)" if dull else name for name, dull in zip(rows["setting"], flat, strict=True)], fontsize=8
    )
    axes.set_ylim(-0.6, rows.height - 0.4)
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    dress(axes, x=f"share of the variance of {label}, with its 95 % interval (1)", y="", title=title)
    return figure
