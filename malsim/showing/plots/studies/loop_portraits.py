"""A loop's portraits: return map, bifurcation, stability map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.showing.plots.style import COLOURS, GREY, dress, sheet

if TYPE_CHECKING:
    from malsim.showing.plots.style import Sheet

RED = COLOURS[5]


def return_map(section: pl.DataFrame, fixed: float, *, name: str = "", radius: float = 0.0, title: str = "") -> Sheet:
    """Draw a cell's next effective over its present one (part "map"), the diagonal, and the path as a cobweb.

    `section` has part, x, y; `fixed` is where the map meets the diagonal, `radius` the spectral radius there.
    """
    figure = sheet(5.8, 5.4)
    axes = figure.subplots()
    curve, path = section.filter(pl.col("part") == "map"), section.filter(pl.col("part") == "path")
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle="--", label="no change")
    axes.plot(curve["x"], curve["y"], color=COLOURS[0], linewidth=2, label="one tick, along the mode")
    web_x = np.repeat(np.append(path["x"].to_numpy(), path["y"].to_numpy()[-1:]), 2)[:-1]
    web_y = np.concatenate([path["x"].to_numpy()[:1], np.repeat(path["y"].to_numpy(), 2)])
    axes.plot(web_x, web_y, color=RED, linewidth=0.9, label=f"{path.height} ticks from stated × calibration")
    mark = "white" if radius >= 1.0 else "black"
    axes.plot([fixed], [fixed], "o", color="black", markerfacecolor=mark, label=f"fixed point, spectral radius {radius:.3f}")
    top = max(0.05, 1.15 * float(np.max(np.concatenate([path["x"], path["y"], [fixed]]))))
    axes.set_xlim(-0.02 * top, min(top, 1.02))
    axes.set_ylim(-0.02 * top, min(top, 1.02))
    axes.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2)
    dress(axes, x=f"effective of {name} (0 to 1)", y="effective a tick later (0 to 1)", title=title)
    return figure


def bifurcation(
    visited: pl.DataFrame, *, ceiling: str, present: float, critical: float | None, name: str = "", title: str = ""
) -> Sheet:
    """Draw what a cell visits in the long run (ceiling, part, effective) over a ceiling; two levels are a flip."""
    figure = sheet(7.4, 4.2)
    axes = figure.subplots()
    visits, fixed = (visited.filter(pl.col("part") == part) for part in ("visited", "fixed"))
    axes.plot(visits["ceiling"], visits["effective"], ".", color=COLOURS[0], markersize=3, label="visited in the long run")
    axes.plot(fixed["ceiling"], fixed["effective"], color=GREY, linewidth=1, linestyle="--", label="fixed point")
    axes.axvline(present, color="black", linewidth=1, linestyle=":", label=f"present {present:g}")
    if critical is not None and critical <= 1.0:
        axes.axvline(critical, color=RED, linewidth=1.2, linestyle="-.", label=f"critical {critical:.3f}")
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    axes.set_xlim(0, 1)
    dress(axes, x=f"{ceiling.replace('_', ' ')} (0 to 1)", y=f"effective of {name} (0 to 1)", title=title)
    return figure


def stability_map(grid: pl.DataFrame, *, present: tuple[float, float], title: str = "") -> Sheet:
    """Draw the spectral radius over (support, challenge) ceilings, its boundary of 1, and hatch where ticks ring."""
    figure = sheet(6.8, 5.2)
    axes = figure.subplots()
    side = grid["support_ceiling"].n_unique()
    level = grid["support_ceiling"].unique().sort().to_numpy()
    radius = grid["radius"].to_numpy().reshape(side, side).T
    rings = grid["rings"].to_numpy().reshape(side, side).T
    top = max(1.2, min(3.0, float(radius.max())))
    shade = axes.contourf(level, level, np.minimum(radius, top), levels=np.linspace(0, top, 13), cmap="Greys", alpha=0.75)
    figure.colorbar(shade, ax=axes, label="spectral radius at the fixed point (1)", format="%.1f")
    if rings.any():
        axes.contourf(level, level, rings.astype(float), levels=[0.5, 1.5], colors="none", hatches=["////"])
    if radius.min() < 1.0 < radius.max():
        axes.contour(level, level, radius, levels=[1.0], colors=[RED], linewidths=1.8)
    axes.plot(*present, "o", color=COLOURS[0], markeredgecolor="white", markersize=9)
    entries = (("s", "white", "hatched: ticks ring"), ("_", RED, "spectral radius 1"), ("o", COLOURS[0], "present rules"))
    for mark, colour, label in entries:
        axes.plot([], [], mark, color=colour, markeredgecolor="black" if mark == "s" else colour, label=label)
    axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3, frameon=False)
    dress(axes, x="support ceiling (0 to 1)", y="challenge ceiling (0 to 1)", title=title)
    return figure
