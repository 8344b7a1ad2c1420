"""A measure over the settings of a sweep: a band over one, lines over two, or shades over a grid of two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.showing.plots.style import dress, line_styles, sheet

if TYPE_CHECKING:
    from malsim.showing.plots.style import Sheet

MOST_LINES = 7


def curves(
    points: pl.DataFrame, *, x: str, by: str | None = None, label: str, names: dict[str, str], title: str = ""
) -> Sheet:
    """Draw value over a setting `x` with its interval as a band, a line for each value of `by` (the first seven).

    `points` has the settings, value, low, high (null where there is no interval); `names` says how a setting stands on an
    axis, with its unit.
    """
    figure = sheet(7.6, 4.2)
    axes = figure.subplots()
    groups = points.sort(x).partition_by(by, as_dict=True, maintain_order=True) if by else {(): points.sort(x)}
    order = sorted(groups)[:MOST_LINES]
    words = points[x].dtype == pl.String
    for key, look in zip(order, line_styles(len(order)), strict=True):
        group = groups[key]
        at = np.arange(group.height) if words else group[x].to_numpy()
        text = f"{key[0]:g}" if key and isinstance(key[0], float) else str(key[0]) if key else "mean"
        axes.plot(at, group["value"], marker="o", markersize=3.5, label=text, **look)
        bounded = group["low"].is_not_null().to_numpy()
        if bounded.any():
            low, high = group["low"].to_numpy(), group["high"].to_numpy()
            axes.fill_between(at, low, high, where=bounded, color=look["color"], alpha=0.15, linewidth=0)
        if words:
            axes.set_xticks(at, group[x].to_list())
    more = len(groups) - len(order)
    head = f"{names[by]},\nwith 95 % intervals" if by else "with its 95 % interval"
    axes.legend(title=head + (f"\n({more} more not drawn)" if more else ""), frameon=False, fontsize=8, title_fontsize=8,
                loc="center left", bbox_to_anchor=(1.0, 0.5))  # fmt: skip
    dress(axes, x=names[x], y=label, title=title)
    return figure


def shades(points: pl.DataFrame, *, x: str, y: str, label: str, names: dict[str, str], title: str = "") -> Sheet:
    """Draw value over two settings as shades of grey: tiles where every combination is there, else a dot a point."""
    figure = sheet(6.6, 5.0)
    axes = figure.subplots()
    across, up = points[x].unique().sort(), points[y].unique().sort()
    if points.height == len(across) * len(up):
        tiles = points.sort(y, x)["value"].to_numpy().reshape(len(up), len(across))
        mesh: Any = axes.pcolormesh(np.arange(len(across)), np.arange(len(up)), tiles, cmap="Greys", shading="nearest")
        for ticks, values in ((axes.set_xticks, across), (axes.set_yticks, up)):
            step = -(-len(values) // 10)
            ticks(np.arange(len(values))[::step], [f"{v:.3g}" if isinstance(v, float) else str(v) for v in values[::step]])
    else:
        mesh = axes.scatter(points[x], points[y], c=points["value"], cmap="Greys", edgecolors="black", linewidths=0.5, s=40)
    figure.colorbar(mesh, ax=axes, label=label)
    dress(axes, x=names[x], y=names[y], title=title)
    return figure
