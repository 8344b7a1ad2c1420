"""Price plane: cost of the truth (x) against cost of a lie (y); below the diagonal a lie is cheaper than news."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.showing.plots.style import COLOURS, GREY, dress, headline, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from malsim.showing.plots.style import Sheet

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
        label, place, align = f"{', '.join(names[:2])}\nand {len(names) - 2} more", (-24.0, 18.0), ("left", "bottom")
    elif len(names) > 1 and lie < truth:  # what lies low has its label below, or it would meet its neighbour's
        label, place, align = "\n".join(names), (0.0, -8.0), ("center", "top")
    else:
        label, place, align = "\n".join(names), (9.0, 0.0 if len(names) > 1 else 5.0), ("left", "center")
    axes.annotate(label, (truth, lie), xytext=place, textcoords="offset points", fontsize=8, ha=align[0], va=align[1])
