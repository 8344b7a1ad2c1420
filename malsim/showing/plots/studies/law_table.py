"""Laws side by side: a panel a metric, a row a law; two questions against each other; verdicts as a matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from matplotlib.patches import Rectangle

from malsim.showing.plots.style import COLOURS, dress, headline, intervals, sheet

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    places = np.arange(len(names))[::-1]
    for axes, metric in zip(panels, metrics, strict=True):
        for number, name in enumerate(sets):
            own = rows.filter((pl.col("metric") == metric) & (pl.col(marks) == name))
            here = pl.DataFrame({lines: names}).join(own, on=lines, how="left", maintain_order="left")
            aside = 0.6 * (0.5 - (number + 0.5) / len(sets))
            intervals(axes, here.select("value", "low", "high"), places + aside, number, label=name)
        axes.set_yticks(places, names, fontsize=9)
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
