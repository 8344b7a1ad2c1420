"""Figures of a feedback loop: return map, bifurcation diagram, stability map, Nyquist and Bode plots, and cures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.showing.plots.style import COLOURS, GREY, dress, headline, line_styles, sheet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.showing.plots.style import Sheet


RED = COLOURS[5]


def return_map(section: pl.DataFrame, fixed: float, *, name: str = "", radius: float = 0.0, title: str = "") -> Sheet:
    """Plot a cell's next value against its current value, with the diagonal and the path as a cobweb.

    `section` has part, x, y; `fixed` is the fixed point, and `radius` the spectral radius at that point.
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
    dress(axes, x=f"effective confidence of {name} (0 to 1)", y="one tick later (0 to 1)", title=title)
    return figure


def bifurcation(
    visited: pl.DataFrame, *, ceiling: str, present: float, critical: float | None, name: str = "", title: str = ""
) -> Sheet:
    """Plot a cell's long-run values against a ceiling. Two values at one ceiling mean a period of two ticks.

    `visited` has ceiling, part and effective.
    """
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
    dress(axes, x=f"{ceiling.replace('_', ' ')} (0 to 1)", y=f"effective confidence of {name} (0 to 1)", title=title)
    return figure


def stability_map(grid: pl.DataFrame, *, present: tuple[float, float], title: str = "") -> Sheet:
    """Plot the spectral radius against both ceilings, with a contour at 1 and hatching where the cells oscillate."""
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
    entries = (
        ("s", "white", "hatched: ticks oscillate"),
        ("_", RED, "spectral radius 1"),
        ("o", COLOURS[0], "present rules"),
    )
    for mark, colour, label in entries:
        axes.plot([], [], mark, color=colour, markeredgecolor="black" if mark == "s" else colour, label=label)
    axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3, frameon=False)
    dress(axes, x="support ceiling (0 to 1)", y="challenge ceiling (0 to 1)", title=title)
    return figure


def nyquist(responses: Mapping[str, pl.DataFrame], *, gain: float | None, phase: float | None, title: str = "") -> Sheet:
    """Plot each mode's open loop in the complex plane, with its mirror image dashed. Encircling −1 means oscillation."""
    figure = sheet(6.0, 6.0)
    axes = figure.add_subplot()
    turn = np.linspace(0.0, 2.0 * np.pi, 200)
    axes.plot(np.cos(turn), np.sin(turn), color="0.7", linewidth=1.0, label="|L| = 1")
    for colour, (mode, response) in zip(COLOURS, responses.items(), strict=False):
        real, imaginary = response["real"].to_numpy(), response["imaginary"].to_numpy()
        axes.plot(real, imaginary, color=colour, label=f"L of {mode}, 0 < ω ≤ π")
        axes.plot(real, -imaginary, color=colour, linestyle="--", label="−π ≤ ω < 0")
    axes.plot([-1.0], [0.0], marker="+", markersize=14, markeredgewidth=2.5, color="black", linestyle="none", label="−1")
    axes.set_aspect("equal", adjustable="datalim")
    axes.legend(loc="best", fontsize="small")
    dress(axes, x="Re L (1)", y="Im L (1)", title=_with_margins(title, gain, phase))
    return figure


def bode(responses: Mapping[str, pl.DataFrame], *, gain: float | None, phase: float | None, title: str = "") -> Sheet:
    """Plot magnitude and phase of each mode's open loop against frequency, with lines at 0 dB and −180°."""
    figure = sheet(8.0, 6.0)
    upper, lower = figure.subplots(2, 1, sharex=True)
    for axes, column, line, label in ((upper, "decibels", 0.0, "|L| (dB)"), (lower, "degrees", -180.0, "arg L (degrees)")):
        for colour, (mode, response) in zip(COLOURS, responses.items(), strict=False):
            values = response[column].to_numpy()
            if column == "degrees":
                values = values - 360.0 * np.round((values[-1] + 180.0) / 360.0)
            axes.semilogx(response["omega"].to_numpy(), values, color=colour, label=f"L of {mode}")
        axes.axhline(line, color="0.5", linestyle="--", linewidth=1.0)
        dress(axes, x="", y=label)
    upper.set_title(_with_margins(title, gain, phase), loc="left", fontsize=10)
    lower.set_xlabel("ω (radians per tick)")
    upper.legend(loc="best", fontsize="small")
    return figure


def _with_margins(title: str, gain: float | None, phase: float | None) -> str:
    margins = "no gain margin: the gain is unbounded" if gain is None else f"gain margin {gain:.3g}"
    margins += ", no phase margin: |L| never crosses 1" if phase is None else f", phase margin {phase:.3g}°"
    return f"{title}\n{margins}".strip()


TICKS = 24


def cures(table: pl.DataFrame, response: pl.DataFrame, *, cell: str, title: str = "") -> Sheet:
    """Plot a cell's step response, remaining amplitude and settling time under each cure for its oscillation.

    `table` has cure, setting, verdict, amplitude, settling_time (ticks; null: never); `response` has cure, tick, effective.
    """
    names = table["cure"].to_list()
    figure = sheet(9.2, 5.0)
    panels = figure.subplots(1, 2, width_ratios=[3, 1.5])
    for look, row in zip(line_styles(len(names)), table.to_dicts(), strict=True):
        line = response.filter((pl.col("cure") == row["cure"]) & (pl.col("tick") <= TICKS))
        label = f"{row['cure']} ({row['setting']})"
        panels[0].plot(line["tick"], line["effective"], marker=".", linewidth=1.4, label=label, **look)
    dress(panels[0], x="ticks since the new claim", y="effective (0 to 1)", title=f"{cell} after a new claim about it")
    panels[0].legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.16))
    bar_rows = np.arange(len(names))[::-1]
    panels[1].barh(bar_rows, table["amplitude"], height=0.35, color=[look["color"] for look in line_styles(len(names))])
    for bar_row, row in zip(bar_rows, table.to_dicts(), strict=True):
        time = "none" if row["settling_time"] is None else f"{row['settling_time']:g} ticks"
        panels[1].annotate(f" {row['verdict']}; settling time {time}", (0.0, bar_row - 0.22), fontsize=7, va="top")
    dress(panels[1], x="lasting amplitude (0 to 1)", y="", title="without the new claim")
    panels[1].set_xlim(0, max(0.1, 1.1 * float(table["amplitude"].to_numpy().max())))
    panels[1].set_yticks(bar_rows, names, fontsize=8)
    panels[1].set_ylim(-0.6, len(names) - 0.4)
    headline(figure, title)
    return figure
