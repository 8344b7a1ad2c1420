"""Figures over settings: sweeps, sensitivities, and a formula over its inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.showing.plots.style import COLOURS, GREY, NARROW, dress, footnote, headline, line_styles, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    for bar_row, name in enumerate(reversed(first)):
        rows = swinging.filter(pl.col("setting") == name).sort("difference")
        for row in rows.to_dicts():
            up = row["difference"] >= 0.0
            axes.barh(bar_row, row["difference"], left=base, height=0.62, color=COLOURS[0] if up else COLOURS[1], alpha=0.85,
                      hatch=None if up else "//", edgecolor="white", linewidth=0.5)  # fmt: skip
            if row["low"] is not None:
                axes.plot([base + row["low"], base + row["high"]], [bar_row, bar_row], color="black", linewidth=1)
        _label_ends(axes, rows, base, bar_row)
    axes.axvline(base, color=GREY, linewidth=1, linestyle="--")
    axes.set_yticks(np.arange(len(first)), list(reversed(first)), fontsize=8)
    axes.margins(x=0.12)
    flat = moves["setting"].n_unique() - len(names)
    more = f"; {len(names) - len(first)} that move it less" if len(names) > len(first) else ""
    head = f"{title}\n" if title else ""
    dress(axes, x=f"{label}; the line is its 95 % interval, the numbers what was set", y="",
          title=f"{head}not drawn: {flat} that change nothing{more}")  # fmt: skip
    return figure


def _label_ends(axes: Axes, rows: pl.DataFrame, base: float, bar_row: int) -> None:
    """Write the value of the setting next to each end of a bar; `rows` are in the order of their difference."""
    for row, down in ((rows.row(0, named=True), True), (rows.row(-1, named=True), False)):
        if rows.height > 1 or down == (row["difference"] < 0.0):
            ends = [row["difference"], row["low"] or 0.0, row["high"] or 0.0]
            end = base + (min(ends) if down else max(ends))
            behind = {"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.5}
            look: dict[str, Any] = {"xytext": (-3 if down else 3, 0), "textcoords": "offset points", "bbox": behind}
            axes.annotate(row["to"], (end, bar_row), ha="right" if down else "left", va="center", fontsize=7, **look)


def indices(shares: pl.DataFrame, *, label: str, title: str = "") -> Sheet:
    """Draw first and total Sobol indices with their intervals (setting, first, first_low, …, total_high), largest on top."""
    rows = shares.sort("total")
    figure = sheet(7.6, 1.5 + 0.42 * max(rows.height, 2))
    axes = figure.subplots()
    bar_row = np.arange(rows.height)
    for name, mark, shift, text in (("total", "s", 0.14, "total: with the others"), ("first", "o", -0.14, "first: alone")):
        value, low, high = (rows[column].to_numpy() for column in (name, f"{name}_low", f"{name}_high"))
        reach = np.maximum([value - low, high - value], 0.0)
        colour = COLOURS[0] if name == "first" else COLOURS[1]
        axes.errorbar(value, bar_row + shift, xerr=reach, fmt=mark, color=colour, capsize=3, label=text)
    axes.axvline(0.0, color=GREY, linewidth=1)
    flat = rows["flat"].to_list()
    axes.set_yticks(
        bar_row, [f"{name} (flat)" if dull else name for name, dull in zip(rows["setting"], flat, strict=True)], fontsize=8
    )
    axes.set_ylim(-0.6, rows.height - 0.4)
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    dress(axes, x=f"share of the variance of {label}, with its 95 % interval (1)", y="", title=title)
    return figure


UNITS = {
    "stated": "stated (0 to 1)",
    "calibration": "calibration (0 to 1)",
    "support": "support mass",
    "challenge": "challenge mass",
}


def over_inputs(lines: pl.DataFrame, *, title: str = "", note: str = "") -> Sheet:
    """Draw effective over each input, a line a formula.

    Parameters
    ----------
    lines
        input (its name), formula, x (its value), effective (0 to 1).
    note
        At what the other inputs are held.
    """
    names, formulas = (lines[name].unique(maintain_order=True).to_list() for name in ("input", "formula"))
    figure = sheet(NARROW, 4.8)
    panels = figure.subplots(2, 2, sharey=True).ravel()
    for axes, name in zip(panels, names, strict=True):
        for look, formula in zip(line_styles(len(formulas)), formulas, strict=True):
            line = lines.filter((pl.col("input") == name) & (pl.col("formula") == formula))
            axes.plot(line["x"], line["effective"], label=formula, linewidth=1.8, clip_on=False, **look)
        axes.set_ylim(0.0, 1.0)
        dress(axes, x=UNITS.get(name, name), y="effective (0 to 1)" if axes in panels[::2] else "")
    panels[0].legend(frameon=False, fontsize=8)
    footnote(figure, note)
    headline(figure, title)
    return figure
