"""Laws side by side: a panel a metric, a row a law; and one figure of two questions against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.plot.style import COLOURS, dress, sheet

if TYPE_CHECKING:
    from malsim.plot.style import Sheet

__all__ = ["law_plane", "law_table"]

NEAR = 0.05  # points that lie so near to each other share a label
MIDDLE = 0.6  # beyond it a label stands on the other side of its point
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def law_table(rows: pl.DataFrame, *, title: str = "") -> Sheet:
    """Draw data, law, metric, value, low, high: a panel a metric, a line a law, a mark a data set with its interval."""
    laws, sets, metrics = (rows[name].unique(maintain_order=True).to_list() for name in ("law", "data", "metric"))
    figure = sheet(2.4 + 3.2 * len(metrics), 1.3 + 0.32 * len(laws) * max(1.0, 0.6 * len(sets)))
    panels = np.atleast_1d(figure.subplots(1, len(metrics), sharey=True))
    places = np.arange(len(laws))[::-1]
    for axes, metric in zip(panels, metrics, strict=True):
        for number, data in enumerate(sets):
            own = rows.filter((pl.col("metric") == metric) & (pl.col("data") == data))
            here = pl.DataFrame({"law": laws}).join(own, on="law", how="left", maintain_order="left")
            value, low, high = (here[name].cast(pl.Float64).to_numpy() for name in ("value", "low", "high"))
            spread = np.nan_to_num([value - low, high - value]).clip(min=0.0)
            aside = 0.6 * (0.5 - (number + 0.5) / len(sets))
            axes.errorbar(
                value, places + aside, xerr=spread, fmt=MARKERS[number % len(MARKERS)], color=COLOURS[number % len(COLOURS)],
                markersize=5, capsize=2, linewidth=1, label=data,
            )  # fmt: skip
        axes.set_yticks(places, laws, fontsize=9)
        axes.set_ylim(-0.6, len(laws) - 0.4)
        dress(axes, x=metric, y="")
    if len(sets) > 1:
        panels[0].legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(0.0, -0.12), ncols=len(sets))
    figure.suptitle(title, fontsize=11, x=0.01, ha="left")
    return figure


def law_plane(points: pl.DataFrame, *, x: str, y: str, title: str = "") -> Sheet:
    """Draw law, x, y, each a share: one point a law; laws on one spot share a label, and the corner is marked.

    A law that passes both questions stands in the upper right corner.
    """
    figure = sheet(7.2, 5.6)
    axes = figure.subplots()
    axes.axvspan(0.95, 1.03, color=COLOURS[2], alpha=0.10, linewidth=0)
    axes.axhspan(0.95, 1.03, color=COLOURS[2], alpha=0.10, linewidth=0)
    near = [(pl.col(name) / NEAR).round().alias(f"near_{name}") for name in ("x", "y")]
    near_ones = points.with_columns(near).group_by("near_x", "near_y", maintain_order=True)
    spots = near_ones.agg("law", pl.col("x", "y").mean())
    for number, row in enumerate(spots.to_dicts()):
        axes.plot(
            row["x"], row["y"], MARKERS[number % len(MARKERS)], color=COLOURS[number % len(COLOURS)], markersize=8, zorder=3
        )
        left = row["x"] > MIDDLE
        axes.annotate(
            _names(row["law"]), (row["x"], row["y"]), xytext=(-9 if left else 9, -4), textcoords="offset points",
            ha="right" if left else "left", va="top" if row["y"] > MIDDLE else "bottom", fontsize=8,
        )  # fmt: skip
    axes.set_xlim(-0.03, 1.03)
    axes.set_ylim(-0.03, 1.03)
    dress(axes, x=x, y=y)
    figure.suptitle(title, fontsize=11, x=0.01, ha="left")
    return figure


def _names(laws: list[str]) -> str:
    """Names of laws that stand on one spot, at most three to a line."""
    lines = [", ".join(laws[start : start + 3]) for start in range(0, len(laws), 3)]
    return "\n".join(lines)
