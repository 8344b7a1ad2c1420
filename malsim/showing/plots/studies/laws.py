"""Figures that compare laws: a table of metrics with intervals, and the plane of prices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from matplotlib.patches import Rectangle

from malsim.showing.plots.style import COLOURS, GREY, dress, headline, intervals, sheet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes

    from malsim.showing.plots.style import Sheet


NEAR = 0.05  # points that lie so near to each other share a label
VERDICTS = {
    "holds": (COLOURS[2], "+"), "fails": (COLOURS[5], "X"), "vacuous": ("#bbbbbb", "~"), "not offered": ("#ffffff", ""),
    "recorded": ("#ffffff", "r"),
    "error": (COLOURS[6], "!"),
}  # fmt: skip
MIDDLE = 0.6  # beyond it a label stands on the other side of its point


def law_table(
    rows: pl.DataFrame, *, lines: str = "law", marks: str = "data", labels: Mapping[str, str] | None = None, title: str = ""
) -> Sheet:
    """Draw data, law, metric, value, low, high: a panel a metric, a line a law, a mark a data set with its interval.

    `lines` and `marks` may change places; `labels` says what stands under a metric's panel.
    """
    names, sets, metrics = (rows[name].unique(maintain_order=True).to_list() for name in (lines, marks, "metric"))
    figure = sheet(2.4 + 3.2 * len(metrics), 1.3 + 0.32 * len(names) * max(1.0, 0.6 * len(sets)))
    panels = np.atleast_1d(figure.subplots(1, len(metrics), sharey=True))
    indices = np.arange(len(names))[::-1]
    for axes, metric in zip(panels, metrics, strict=True):
        for number, name in enumerate(sets):
            own = rows.filter((pl.col("metric") == metric) & (pl.col(marks) == name))
            here = pl.DataFrame({lines: names}).join(own, on=lines, how="left", maintain_order="left")
            aside = 0.6 * (0.5 - (number + 0.5) / len(sets))
            intervals(axes, here.select("value", "low", "high"), indices + aside, number, label=name)
        axes.set_yticks(indices, names, fontsize=9)
        axes.set_ylim(-0.6, len(names) - 0.4)
        dress(axes, x=(labels or {}).get(metric, metric), y="")
    if len(sets) > 1:
        figure.legend(*panels[0].get_legend_handles_labels(), frameon=False, fontsize=8, loc="outside lower left", ncols=4)
    headline(figure, title)
    return figure


def verdict_matrix(rows: pl.DataFrame, *, title: str = "") -> Sheet:
    """Draw memory, cell, verdict: a row a memory, a column a cell, a colour and a sign a verdict; not offered is blank."""
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


NAMES = 4  # of one place; of more the first two are named, and the rest are counted


def price_figure(frame: pl.DataFrame, *, most: int) -> Sheet:
    """Plot a point per price pair, labelled with its memories; values over `most` lie on the upper or right edge."""
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
    headline(figure, "What a lie costs, what the truth costs: claims until a memory answers otherwise")
    return figure


def _place(axes: Axes, truth: float, lie: float, names: list[str]) -> None:
    colour = COLOURS[2] if lie > truth else COLOURS[5] if lie < truth else COLOURS[0]
    axes.scatter([truth], [lie], s=30.0 + 22.0 * len(names), color=colour, alpha=0.85, zorder=3)
    if len(names) > NAMES:
        label, offset, align = f"{', '.join(names[:2])}\nand {len(names) - 2} more", (-24.0, 18.0), ("left", "bottom")
    elif len(names) > 1 and lie < truth:  # what lies low has its label below, or it would meet its neighbour's
        label, offset, align = "\n".join(names), (0.0, -8.0), ("center", "top")
    else:
        label, offset, align = "\n".join(names), (9.0, 0.0 if len(names) > 1 else 5.0), ("left", "center")
    axes.annotate(label, (truth, lie), xytext=offset, textcoords="offset points", fontsize=8, ha=align[0], va=align[1])
