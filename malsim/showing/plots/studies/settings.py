"""Figures over settings: sweeps, sensitivities, tuning, and formulas plotted over their inputs."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.showing.plots.style import COLOURS, GREY, NARROW, dress, footnote, headline, line_styles, sheet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes

    from malsim.showing.plots.style import Sheet


MOST_LINES = 7


def curves(
    points: pl.DataFrame, *, x: str, by: str | None = None, label: str, names: dict[str, str], title: str = ""
) -> Sheet:
    """Plot a value against the setting `x`, with its interval as a band and a line for each of the first seven `by` values.

    `points` has the settings, value, low, high (null: no interval); `names` maps settings to labels with units.
    """
    figure = sheet(7.6, 4.2)
    axes = figure.subplots()
    groups = points.sort(x).partition_by(by, as_dict=True, maintain_order=True) if by else {(): points.sort(x)}
    order = sorted(groups)[:MOST_LINES]
    categorical = points[x].dtype == pl.String
    for key, look in zip(order, line_styles(len(order)), strict=True):
        group = groups[key]
        position = np.arange(group.height) if categorical else group[x].to_numpy()
        text = f"{key[0]:g}" if key and isinstance(key[0], float) else str(key[0]) if key else "mean"
        axes.plot(position, group["value"], marker="o", markersize=3.5, label=text, **look)
        bounded = group["low"].is_not_null().to_numpy()
        if bounded.any():
            low, high = group["low"].to_numpy(), group["high"].to_numpy()
            axes.fill_between(position, low, high, where=bounded, color=look["color"], alpha=0.15, linewidth=0)
        if categorical:
            axes.set_xticks(position, group[x].to_list())
    more = len(groups) - len(order)
    head = f"{names[by]},\nwith 95 % intervals" if by else "with its 95 % interval"
    axes.legend(title=head + (f"\n({more} more not drawn)" if more else ""), frameon=False, fontsize=8, title_fontsize=8,
                loc="center left", bbox_to_anchor=(1.0, 0.5))  # fmt: skip
    dress(axes, x=names[x], y=label, title=title)
    return figure


def shades(points: pl.DataFrame, *, x: str, y: str, label: str, names: dict[str, str], title: str = "") -> Sheet:
    """Draw a value over two settings in shades of grey: as tiles if every combination is present, otherwise as dots."""
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
    """Draw how far each change of a setting moves a metric from its base, for the 20 widest swings, widest at the top.

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
    title = f"{head}not drawn: {flat} without effect{more}"
    dress(axes, x=f"{label} with 95 % intervals; numbers are values of the setting", y="", title=title)
    return figure


def _label_ends(axes: Axes, rows: pl.DataFrame, base: float, bar_row: int) -> None:
    """Write the value of the setting next to each end of each bar. `rows` must be sorted by difference."""
    for row, down in ((rows.row(0, named=True), True), (rows.row(-1, named=True), False)):
        if rows.height > 1 or down == (row["difference"] < 0.0):
            ends = [row["difference"], row["low"] or 0.0, row["high"] or 0.0]
            end = base + (min(ends) if down else max(ends))
            behind = {"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.5}
            look: dict[str, Any] = {"xytext": (-3 if down else 3, 0), "textcoords": "offset points", "bbox": behind}
            axes.annotate(row["to"], (end, bar_row), ha="right" if down else "left", va="center", fontsize=7, **look)


def indices(shares: pl.DataFrame, *, label: str, title: str = "") -> Sheet:
    """Draw Sobol indices with intervals (setting, first, first_low, …, total_high), the largest total index at the top."""
    rows = shares.sort("total")
    figure = sheet(7.6, 1.5 + 0.42 * max(rows.height, 2))
    axes = figure.subplots()
    bar_row = np.arange(rows.height)
    for name, mark, shift, text in (("total", "s", 0.14, "total: with interactions"), ("first", "o", -0.14, "first: alone")):
        value, low, high = (rows[column].to_numpy() for column in (name, f"{name}_low", f"{name}_high"))
        reach = np.maximum([value - low, high - value], 0.0)
        colour = COLOURS[0] if name == "first" else COLOURS[1]
        axes.errorbar(value, bar_row + shift, xerr=reach, fmt=mark, color=colour, capsize=3, label=text)
    axes.axvline(0.0, color=GREY, linewidth=1)
    flat = rows["flat"].to_list()
    names = [f"{name} (flat)" if is_flat else name for name, is_flat in zip(rows["setting"], flat, strict=True)]
    axes.set_yticks(bar_row, names, fontsize=8)
    axes.set_ylim(-0.6, rows.height - 0.4)
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    dress(axes, x=f"share of the variance of {label}, with 95 % interval (1)", y="", title=title)
    return figure


UNITS = {
    "stated": "stated (0 to 1)",
    "calibration": "calibration (0 to 1)",
    "support": "support mass",
    "challenge": "challenge mass",
}


def over_inputs(lines: pl.DataFrame, *, title: str = "", note: str = "") -> Sheet:
    """Plot effective confidence against each input, with one line per formula.

    `lines` has input (name), formula, x (value of the input), effective (0 to 1); `note` is the text under the figure.
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


ACROSS = 3
BEST = COLOURS[5]


def slices(
    candidates: pl.DataFrame,
    best: Mapping[str, Any],
    interval: Mapping[str, tuple[Any, Any]],
    *,
    units: Mapping[str, str],
    loss: str,
    title: str = "",
) -> Sheet:
    """Plot the loss of every tried point against each setting and over the search, shading the interval of the best value.

    `candidates` has number (0: the original settings), a column per setting, loss; `best`, `interval` and `units` map each
    setting to its value of lowest loss, the 95 % interval and the unit; `loss` is the label of the loss axis.
    """
    names = list(best)
    across = min(ACROSS, len(names) + 1)
    down = -(-(len(names) + 1) // across)
    figure = sheet(1.0 + 2.9 * across, 0.8 + 2.6 * down)
    panels = figure.subplots(down, across, squeeze=False, sharey=True).ravel()
    value = candidates["loss"].to_numpy()
    top = np.nanquantile(value, 0.9)
    for axes, name in zip(panels, names, strict=False):
        column = candidates[name]
        numeric = column.dtype.is_numeric()
        choices = [] if numeric else sorted(column.unique().to_list())
        x = column.to_numpy() if numeric else np.array([choices.index(candidate) for candidate in column], dtype=float)
        if name in interval:
            low, high = interval[name]
            low, high = (low, high) if numeric else (choices.index(low) - 0.2, choices.index(high) + 0.2)
            axes.axvspan(low, high, color=COLOURS[1], alpha=0.25, linewidth=0)
        axes.plot(x, value, "o", color=COLOURS[0], markersize=3, alpha=0.6)
        axes.plot(x[:1], value[:1], "s", color="black", markersize=6)
        axes.plot([best[name] if numeric else choices.index(best[name])], [np.nanmin(value)], "D", color=BEST, markersize=6)
        if choices:
            axes.set_xticks(range(len(choices)), choices, fontsize=8)
        dress(axes, x=f"{name} ({units[name] if numeric else 'choice'})", y=loss if axes in panels[::across] else "")
    panels[0].set_ylim(np.nanmin(value) - 0.05 * (top - np.nanmin(value) + 1e-9), max(top, value[0]) * 1.02 + 1e-9)
    search, number = panels[len(names)], np.arange(len(value))
    search.plot(number, value, "o", color=COLOURS[0], markersize=3, alpha=0.4)
    search.plot(number, np.fmin.accumulate(value), color=BEST, drawstyle="steps-post", linewidth=1.6)
    dress(search, x="point of the search (line: best so far)", y="")
    for axes in panels[len(names) + 1 :]:
        axes.set_visible(False)
    marks = [("o", COLOURS[0], "tried"), ("s", "black", "original"), ("D", BEST, "best")]
    marks += [("s", "#f2d08a", "95 % interval")] if interval else []
    handles = [panels[0].plot([], [], mark, color=colour, label=label)[0] for mark, colour, label in marks]
    figure.legend(handles=handles, frameon=False, fontsize=8, loc="outside lower center", ncols=4)
    headline(figure, title)
    return figure


def pareto(
    candidates: pl.DataFrame, *, x: str, y: str, labels: tuple[str, str], title: str = "", lower_is_better: bool = True
) -> Sheet:
    """Plot all tried points by two losses or margins, with the Pareto front of points that no other point beats in both.

    `candidates` has number (0: the original settings), front, and the columns `x` and `y`; `labels` has the axis labels.
    """
    figure = sheet(6.4, 4.8)
    axes = figure.subplots()
    front = candidates.filter("front").sort(x, y)
    axes.plot(candidates[x], candidates[y], "o", color=GREY, markersize=3, alpha=0.5, label="tried")
    axes.plot(front[x], front[y], "o-", color=COLOURS[0], markersize=5, linewidth=1.2, label="front",
              drawstyle="steps-post" if lower_is_better else "steps-pre")  # fmt: skip
    present = candidates.filter(candidates["number"] == 0)
    axes.plot(present[x], present[y], "s", color="black", markersize=7, label="original")
    dress(axes, x="\n".join(textwrap.wrap(labels[0], 70)), y="\n".join(textwrap.wrap(labels[1], 45)))
    axes.legend(frameon=False, fontsize=9)
    headline(figure, title)
    return figure
