"""Points of a tuning study: the loss over each setting, and the Pareto front of two objectives."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.showing.plots.style import COLOURS, GREY, dress, headline, sheet

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from malsim.showing.plots.style import Sheet

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
    """Draw every point tried as loss over each setting, a panel a setting, and the least loss over the search.

    Shaded is where the best value lies with 95 %.

    Parameters
    ----------
    candidates
        number (0: as it was), a column a setting, loss.
    best, interval
        The value of least loss, and the ends of its interval, a setting.
    units
        Of each setting.
    loss
        What is on the loss axis, with its unit.
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
        words = column.dtype.is_numeric()
        choices = [] if words else sorted(column.unique().to_list())
        x = column.to_numpy() if words else np.array([choices.index(candidate) for candidate in column], dtype=float)
        if name in interval:
            low, high = interval[name]
            low, high = (low, high) if words else (choices.index(low) - 0.2, choices.index(high) + 0.2)
            axes.axvspan(low, high, color=COLOURS[1], alpha=0.25, linewidth=0)
        axes.plot(x, value, "o", color=COLOURS[0], markersize=3, alpha=0.6)
        axes.plot(x[:1], value[:1], "s", color="black", markersize=6)
        axes.plot([best[name] if words else choices.index(best[name])], [np.nanmin(value)], "D", color=BEST, markersize=6)
        if choices:
            axes.set_xticks(range(len(choices)), choices, fontsize=8)
        dress(axes, x=f"{name} ({units[name] if words else 'choice'})", y=loss if axes in panels[::across] else "")
    panels[0].set_ylim(np.nanmin(value) - 0.05 * (top - np.nanmin(value) + 1e-9), max(top, value[0]) * 1.02 + 1e-9)
    _search(panels[len(names)], value)
    for axes in panels[len(names) + 1 :]:
        axes.set_visible(False)
    marks = [("o", COLOURS[0], "tried"), ("s", "black", "as it was"), ("D", BEST, "best")]
    marks += [("s", "#f2d08a", "95 % interval")] if interval else []
    handles = [panels[0].plot([], [], mark, color=colour, label=label)[0] for mark, colour, label in marks]
    figure.legend(handles=handles, frameon=False, fontsize=8, loc="outside lower center", ncols=4)
    headline(figure, title)
    return figure


def _search(axes: Axes, value: NDArray[np.float64]) -> None:
    """Draw the loss of each point in the order of the search, and the least so far."""
    number = np.arange(len(value))
    axes.plot(number, value, "o", color=COLOURS[0], markersize=3, alpha=0.4)
    axes.plot(number, np.fmin.accumulate(value), color=BEST, drawstyle="steps-post", linewidth=1.6)
    dress(axes, x="point of the search (line: best so far)", y="")


def pareto(
    candidates: pl.DataFrame, *, x: str, y: str, labels: tuple[str, str], title: str = "", lower_is_better: bool = True
) -> Sheet:
    """Draw every point tried over two losses or margins, and the front: the points that no other beats in both.

    `candidates` has number (0: as it was), front, and the columns `x` and `y`; `labels` are the axes' with their units.
    """
    figure = sheet(6.4, 4.8)
    axes = figure.subplots()
    front = candidates.filter("front").sort(x, y)
    axes.plot(candidates[x], candidates[y], "o", color=GREY, markersize=3, alpha=0.5, label="tried")
    axes.plot(front[x], front[y], "o-", color=COLOURS[0], markersize=5, linewidth=1.2, label="front",
              drawstyle="steps-post" if lower_is_better else "steps-pre")  # fmt: skip
    present = candidates.filter(candidates["number"] == 0)
    axes.plot(present[x], present[y], "s", color="black", markersize=7, label="as it was")
    dress(axes, x="\n".join(textwrap.wrap(labels[0], 70)), y="\n".join(textwrap.wrap(labels[1], 45)))
    axes.legend(frameon=False, fontsize=9)
    headline(figure, title)
    return figure
