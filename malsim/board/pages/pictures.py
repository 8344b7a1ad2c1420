"""The board's two pictures: places with groups under one bar, and all columns in greys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.board.pages.shown_columns import columns_of, number_of
from malsim.showing.plots.style import dress, headline, sheet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.showing.plots.style import Sheet

LEADING = "accuracy"
DARK = 0.8  # of the best: from here on white is read more easily than black
BOUND = "over "  # how a price begins that is more than the most that was tried


def places_picture(data: Mapping[str, Any], metric: str = LEADING) -> Sheet | None:
    """Mean and simultaneous interval of each memory, its places beside it, and a bar over each group not told apart."""
    standing = data["standing"].get(metric)
    if standing is None:
        return None
    rows = standing["rows"]
    names, height = list(rows), {name: -place for place, name in enumerate(rows)}
    figure = sheet(9.0, 1.4 + 0.24 * len(rows))
    axes, bars = figure.subplots(1, 2, sharey=True, width_ratios=(4, 1))
    low, high = max(0.0, min(one["low"] for one in rows.values())), min(1.0, max(one["high"] for one in rows.values()))
    for name, one in rows.items():
        axes.plot([max(one["low"], low), min(one["high"], high)], [height[name]] * 2, color="0.35", linewidth=1.4)
        axes.plot(one["value"], height[name], "o", color="k", markersize=4)
    labels = [f"{name}  ({one['first']}" + (f" to {one['last']})" if one["last"] > one["first"] else ")")
              for name, one in rows.items()]  # fmt: skip
    axes.set_yticks([height[name] for name in names], labels, fontsize=8)
    dress(axes, x=f"{metric} (share), all intervals at once {standing['level']:.0%}", y="")
    for place, group in enumerate(group for group in standing["groups"] if len(group) > 1):
        ends = [height[group[0]] + 0.25, height[group[-1]] - 0.25]
        bars.plot([place, place], ends, color="k", linewidth=2.2, solid_capstyle="butt")
    bars.set_xlabel("not told apart", fontsize=8)
    bars.set_xticks([])
    bars.tick_params(left=False)
    for side in bars.spines.values():
        side.set_visible(False)
    headline(figure, f"Places by {metric} in the loop, {standing['n']} paired replications")
    return figure


def shares_picture(data: Mapping[str, Any]) -> Sheet:
    """Memories by columns, darker is better within a column; what is not asked stays empty.

    A column with one number for all memories is left out, and the headline says so.
    """
    (metrics, same), rows = columns_of(data), [row["name"] for row in data["rows"]]
    cells = {(cell["row"], cell["metric"]): cell for cell in data["cells"]}
    table = np.array([[_value(data, cells.get((row, one["name"])), one) for one in metrics] for row in rows], dtype=float)
    figure = sheet(9.5, 1.9 + 0.24 * len(rows))
    axes, shares = figure.subplots(), _shares(table)
    axes.imshow(shares, cmap="Greys", vmin=0.0, vmax=1.25, aspect="auto")
    for row, column in np.ndindex(table.shape):
        cell = cells.get((rows[row], metrics[column]["name"]))
        if cell is None or (np.isnan(table[row, column]) and not cell["text"].startswith(BOUND)):
            continue
        words = cell["text"] or f"{abs(table[row, column]):.2g}"
        dark = shares[row, column] > DARK
        axes.text(column, row, words.replace(" of ", "/"), ha="center", va="center", fontsize=6, color="w" if dark else "k")
    axes.set_xticks(range(len(metrics)), [one["name"] for one in metrics], rotation=40, ha="left", fontsize=8)
    axes.xaxis.tick_top()
    axes.set_yticks(range(len(rows)), rows, fontsize=8)
    axes.tick_params(length=0)
    left_out = "".join(f"; {name} is left out, as it is {value:g} for all" for name, value in same.items())
    headline(figure, f"Darker is better within a column; empty is not asked, or has no number{left_out}")
    return figure


def _value(data: Mapping[str, Any], cell: Mapping[str, Any] | None, metric: Mapping[str, Any]) -> float:
    """A cell's number, upside down where less is better; NaN where there is none."""
    if cell is None:
        return np.nan
    value = number_of(data, cell)
    return np.nan if value is None else value if metric["better"] == "higher" else -value


def _shares(table: np.ndarray) -> np.ndarray:
    """Where each number lies between the worst and the best of its column, by order, so that one giant hides nobody."""
    order = np.full(table.shape, np.nan)
    for column, values in enumerate(table.T):
        there = np.isfinite(values)
        steps = np.unique(values[there])
        if len(steps) > 1:
            order[there, column] = np.searchsorted(steps, values[there]) / (len(steps) - 1)
        else:
            order[there, column] = 0.5
    return order
