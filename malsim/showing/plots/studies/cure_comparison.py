"""Figure of the cures of an oscillating loop: step response of a cell, and the swing that remains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.showing.plots.style import dress, headline, line_styles, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from malsim.showing.plots.style import Sheet

TICKS = 24


def cures(table: pl.DataFrame, response: pl.DataFrame, *, cell: str, title: str = "") -> Sheet:
    """Draw each cure's step response over ticks, its lasting swing and its settling time.

    Parameters
    ----------
    table
        cure, setting, verdict, amplitude, settling_time (ticks, null if never).
    response
        cure, tick, effective.
    """
    names = table["cure"].to_list()
    figure = sheet(9.2, 5.0)
    panels = figure.subplots(1, 2, width_ratios=[3, 1.5])
    for look, row in zip(line_styles(len(names)), table.to_dicts(), strict=True):
        line = response.filter((pl.col("cure") == row["cure"]) & (pl.col("tick") <= TICKS))
        panels[0].plot(line["tick"], line["effective"], marker=".", linewidth=1.4, label=_label(row), **look)
    dress(panels[0], x="ticks since the new claim", y="effective (0 to 1)", title=f"{cell} after a new claim about it")
    panels[0].legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.16))
    places = np.arange(len(names))[::-1]
    panels[1].barh(places, table["amplitude"], height=0.35, color=[look["color"] for look in line_styles(len(names))])
    for place, row in zip(places, table.to_dicts(), strict=True):
        time = "none" if row["settling_time"] is None else f"{row['settling_time']:g} ticks"
        panels[1].annotate(f" {row['verdict']}; settling time {time}", (0.0, place - 0.22), fontsize=7, va="top")
    dress(panels[1], x="lasting swing (0 to 1)", y="", title="left to itself")
    panels[1].set_xlim(0, max(0.1, 1.1 * float(table["amplitude"].to_numpy().max())))
    _name_rows(panels[1], places, names)
    headline(figure, title)
    return figure


def _label(row: dict[str, object]) -> str:
    return f"{row['cure']} ({row['setting']})"


def _name_rows(axes: Axes, places: np.ndarray, names: list[str]) -> None:
    axes.set_yticks(places, names, fontsize=8)
    axes.set_ylim(-0.6, len(names) - 0.4)
