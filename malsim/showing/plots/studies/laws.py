"""Figures that compare laws: metrics with intervals, verdicts, prices, reliability, and one stream under two laws."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from matplotlib.patches import Rectangle

from malsim.base.intervals import wilson
from malsim.showing.plots.style import COLOURS, DASHES, GREY, dress, headline, intervals, sheet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from malsim.showing.plots.style import Sheet


VERDICTS = {
    "holds": (COLOURS[2], "+"), "fails": (COLOURS[5], "X"), "vacuous": ("#bbbbbb", "~"), "not offered": ("#ffffff", ""),
    "recorded": ("#ffffff", "r"),
    "error": (COLOURS[6], "!"),
}  # fmt: skip


def law_table(
    rows: pl.DataFrame, *, lines: str = "law", marks: str = "data", labels: Mapping[str, str] | None = None, title: str = ""
) -> Sheet:
    """Draw rows (data, law, metric, value, low, high) with a panel per metric, a line per law and a marker per data set.

    `lines` and `marks` name the columns drawn as lines and as marks; `labels` has the x label of each metric's panel.
    """
    names, sets, metrics = (rows[name].unique(maintain_order=True).to_list() for name in (lines, marks, "metric"))
    figure = sheet(2.4 + 3.2 * len(metrics), 1.3 + 0.32 * len(names) * max(1.0, 0.6 * len(sets)))
    panels = np.atleast_1d(figure.subplots(1, len(metrics), sharey=True))
    indices = np.arange(len(names))[::-1]
    for axes, metric in zip(panels, metrics, strict=True):
        for number, name in enumerate(sets):
            of_set = rows.filter((pl.col("metric") == metric) & (pl.col(marks) == name))
            of_set = pl.DataFrame({lines: names}).join(of_set, on=lines, how="left", maintain_order="left")
            shift = 0.6 * (0.5 - (number + 0.5) / len(sets))
            intervals(axes, of_set.select("value", "low", "high"), indices + shift, number, label=name)
        axes.set_yticks(indices, names, fontsize=9)
        axes.set_ylim(-0.6, len(names) - 0.4)
        dress(axes, x=(labels or {}).get(metric, metric), y="")
    if len(sets) > 1:
        figure.legend(*panels[0].get_legend_handles_labels(), frameon=False, fontsize=8, loc="outside lower left", ncols=4)
    headline(figure, title)
    return figure


def verdict_matrix(rows: pl.DataFrame, *, title: str = "") -> Sheet:
    """Draw a grid of verdicts with one row per memory and one column per duty.

    `rows` has memory, cell (name of the duty) and verdict. The verdict "not offered" is left blank.
    """
    memories, cells = (rows[name].unique(maintain_order=True).to_list() for name in ("memory", "cell"))
    figure = sheet(2.6 + 0.2 * len(cells), 1.6 + 0.3 * len(memories))
    axes = figure.subplots()
    verdicts = dict(zip(rows.select("memory", "cell").rows(), rows["verdict"], strict=True))
    for y, memory in enumerate(memories):
        for x, cell in enumerate(cells):
            colour, sign = VERDICTS[verdicts[memory, cell]]
            axes.add_patch(Rectangle((x - 0.45, y - 0.42), 0.9, 0.84, facecolor=colour, edgecolor="#dddddd", linewidth=0.5))
            axes.text(x, y, sign, ha="center", va="center", fontsize=7, color="w")
    axes.set_xlim(-0.6, len(cells) - 0.4)
    axes.set_ylim(len(memories) - 0.4, -0.6)
    axes.set_xticks(range(len(cells)), cells, rotation=90, fontsize=7)
    axes.set_yticks(range(len(memories)), memories, fontsize=8)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    present = [name for name in VERDICTS if name in verdicts.values() and VERDICTS[name][1]]
    handles = [Rectangle((0, 0), 1, 1, facecolor=VERDICTS[name][0]) for name in present]
    figure.legend(handles, present, frameon=False, fontsize=8, loc="outside lower left", ncols=4)
    headline(figure, title)
    return figure


NAMES = 4  # a label for more memories than this names the first two and counts the others


def price_figure(frame: pl.DataFrame, *, most: int) -> Sheet:
    """Plot each memory's price of a lie against its price of the truth. Prices above `most` are drawn at the edge."""
    over = most + 2.0
    points = frame.with_columns(pl.col("truth", "lie").cast(pl.Float64).fill_null(over).clip(0.0, over))
    figure = sheet(9.0, 6.6)
    axes = figure.subplots()
    axes.plot([0.0, over], [0.0, over], color=GREY, linewidth=1.0, linestyle=(0, (5, 3)))
    axes.text(over * 0.62, over * 0.58, "below: a lie is cheaper than news", rotation=45, color=GREY, fontsize=9,
              rotation_mode="anchor", va="top", transform_rotates_text=True)  # fmt: skip
    for (truth, lie), here in points.group_by("truth", "lie", maintain_order=True):
        _place(axes, float(truth), float(lie), here["memory"].to_list())
    ticks = np.arange(0, most + 1, 2)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks([*ticks, over], [*map(str, ticks), f"over {most}"])
    axes.set_xlim(0.0, over + 2.6)
    axes.set_ylim(0.0, over + 1.2)
    dress(axes, x="price of the truth, claims", y="price of the lie, claims")
    headline(figure, "Price of the lie over price of the truth: claims until a memory changes its answer")
    return figure


def _place(axes: Axes, truth: float, lie: float, names: list[str]) -> None:
    colour = COLOURS[2] if lie > truth else COLOURS[5] if lie < truth else COLOURS[0]
    axes.scatter([truth], [lie], s=30.0 + 22.0 * len(names), color=colour, alpha=0.85, zorder=3)
    if len(names) > NAMES:
        label, offset, align = f"{', '.join(names[:2])}\nand {len(names) - 2} more", (-24.0, 18.0), ("left", "bottom")
    # put the label below, because above it would overlap the label of the next point
    elif len(names) > 1 and lie < truth:
        label, offset, align = "\n".join(names), (0.0, -8.0), ("center", "top")
    else:
        label, offset, align = "\n".join(names), (9.0, 0.0 if len(names) > 1 else 5.0), ("left", "center")
    axes.annotate(label, (truth, lie), xytext=offset, textcoords="offset points", fontsize=8, ha=align[0], va=align[1])


BINS = 15


def reliability(answers: pl.DataFrame, *, title: str = "") -> Sheet:
    """Plot the share of right answers against the mean probability in 15 bins, with 95 % Wilson intervals.

    `answers` has probability (0 to 1) and right, one row per question. The lower panel shows the number of answers in each
    bin.
    """
    probability, right = answers["probability"].to_numpy(), answers["right"].to_numpy()
    bin_of = np.minimum((probability * BINS).astype(np.int64), BINS - 1)
    count = np.bincount(bin_of, minlength=BINS)
    filled = count > 0
    mean, share = (
        np.bincount(bin_of, weights=part, minlength=BINS)[filled] / count[filled] for part in (probability, right)
    )
    low, high = wilson(share, count[filled])
    figure = sheet(5.6, 5.6)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[4, 1])
    upper.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle="--", label="perfectly calibrated")
    reach, label = [share - low, high - share], "answers in a bin, 95 % interval"
    upper.errorbar(mean, share, yerr=reach, fmt="o", color=COLOURS[0], capsize=2, label=label)
    upper.legend(frameon=False, fontsize=8, loc="upper left")
    upper.set_ylim(-0.02, 1.02)
    dress(upper, x="", y="share of right answers (0 to 1)", title=title)
    lower.bar((np.arange(BINS) + 0.5) / BINS, count, width=0.9 / BINS, color=COLOURS[0])
    dress(lower, x="probability of the answer (0 to 1)", y="answers")
    lower.set_xlim(0, 1)
    return figure


MOST = 6  # maximum number of lines per panel
SHORT = 3.0  # runs shorter than this (days) have a time axis in hours


def two_panels(sides: Sequence[tuple[str, pl.DataFrame]], *, title: str = "") -> Sheet:
    """Draw one panel per frame of cells (t in days, cell, rank or effective, status). A cross marks a cell's removal."""
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
    panels[0].set_ylabel("score (rank or effective confidence)")
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
        axes.annotate(" removed", (end, 0.0), fontsize=8, color=GREY, va="bottom")
