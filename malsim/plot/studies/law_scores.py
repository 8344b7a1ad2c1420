"""Laws side by side on real claims: accuracy and Brier score, a row a data set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.plot.style import COLOURS, dress, sheet

if TYPE_CHECKING:
    from malsim.plot.style import Sheet

__all__ = ["gossips", "laws"]

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
AXES = {"accuracy": "accuracy (0 to 1), more is better", "brier": "Brier score (0 to 1), less is better"}


def laws(compared: pl.DataFrame, *, title: str = "") -> Sheet:
    """Draw data, law, metric, value, low, high: a panel a metric, a line a data set, a mark a law with its interval."""
    sets, names = (compared[name].unique(maintain_order=True).to_list() for name in ("data", "law"))
    figure = sheet(9.0, 1.4 + 0.62 * len(sets))
    panels = figure.subplots(1, len(AXES), sharey=True)
    places = np.arange(len(sets))[::-1]
    for axes, (metric, label) in zip(panels, AXES.items(), strict=True):
        for number, name in enumerate(names):
            here = compared.filter((pl.col("metric") == metric) & (pl.col("law") == name))
            value = here["value"].to_numpy()
            spread = [value - here["low"].to_numpy(), here["high"].to_numpy() - value]
            aside = 0.5 * (0.5 - (number + 0.5) / len(names))
            axes.errorbar(
                value, places + aside, xerr=spread, fmt=MARKERS[number % len(MARKERS)], color=COLOURS[number % len(COLOURS)],
                markersize=5, capsize=2, linewidth=1, label=name,
            )  # fmt: skip
        axes.set_yticks(places, sets, fontsize=9)
        dress(axes, x=label, y="")
    panels[0].legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(0.0, -0.18), ncols=len(names))
    figure.suptitle(title, fontsize=11, x=0.01, ha="left")
    return figure


def gossips(table: pl.DataFrame, *, title: str = "What more gossips of one story do") -> Sheet:
    """Draw setting, gossips, accuracy: a line a setting over the number of gossips, those that agree drawn as one."""
    figure = sheet(7.2, 4.2)
    axes = figure.subplots()
    counts = table["gossips"].unique(maintain_order=True).to_list()
    lines: dict[tuple[float, ...], list[str]] = {}
    for (name,), part in table.group_by("setting", maintain_order=True):
        lines.setdefault(tuple(part["accuracy"].round(3).to_list()), []).append(str(name))
    for place, (values, names) in enumerate(lines.items()):
        colour, mark = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        axes.plot(range(len(counts)), values, color=colour, marker=mark, markersize=5, label="\n".join(names))
    dress(axes, x="gossips who tell the same", y="right (share of changes, asked 30 days later)", title=title)
    axes.set_xticks(range(len(counts)), [str(count) for count in counts])
    axes.set_ylim(0.0, 1.05)
    axes.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.set_layout_engine("tight")
    return figure
