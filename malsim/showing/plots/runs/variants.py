"""Figure that compares a quantity across several runs, with one panel per cell and one line per run."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.showing.plots.runs.trajectories import AXES, DAYS, UNIT, line_key, middle_of
from malsim.showing.plots.style import GREY, NARROW, dress, footnote, headline, line_styles, sheet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from malsim.showing.plots.style import Sheet

MOST_PANELS = 6
MOST_LABELS = 6  # more lines than this get colours from a scale instead of labels
LINE = 0.11  # height of a label as a fraction of the panel height


@dataclass(frozen=True, kw_only=True)
class RunLine:
    """Run to draw: its label, its cells (t, rep, cell, status, and the plotted column), and its value on a colour scale."""

    label: str
    cells: pl.DataFrame
    value: float | None = None
    is_default: bool = False


def variants(
    runs: Sequence[RunLine],
    titles: Mapping[str, str],
    *,
    column: str = "effective",
    setting: str = "",
    title: str = "",
    note: str = "",
    x: str = DAYS,
) -> Sheet:
    """Draw one recorded column of the same cells for several runs.

    Up to six runs are labelled at the end of their lines; more runs are coloured by a scale of their values. The default is
    drawn thicker. Runs with equal lines share one line and label, and cells that are equal in every run share a panel.
    Panels are ordered by the spread between runs. `titles` has the panel title of each cell to draw, in at most six panels;
    `setting` is the label of the colour scale.
    """
    panels, different = panels_of(runs, list(titles), column)
    rows = max(1, len(panels[:MOST_PANELS]))
    figure = sheet(NARROW, 1.4 + 2.0 * rows)
    several = figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0]
    scaled = len(runs) > MOST_LABELS and all(run.value is not None for run in runs)
    looks = _styles(runs, scaled=scaled)
    for axes, cells in zip(several, panels, strict=False):
        _panel(axes, runs, cells[0], column, looks, labelled=not scaled)
        names = ", ".join(cells[:4]) + (", …" if len(cells) > 4 else "")  # noqa: PLR2004  # more would not fit
        heading = titles[cells[0]] if len(cells) == 1 else f"{names} ({len(cells)} equal cells)"
        dress(axes, x="", y=AXES.get(column, column), title=heading)
    several[-1].set_xlabel(x)
    if scaled:
        _colourbar(figure, several, runs, setting)
    more, equal = sum(map(len, panels[MOST_PANELS:])), len(titles) - sum(map(len, panels))
    parts = (
        note,
        f"all runs are equal in {AXES.get(column, column).split(' (')[0]}" * (len(runs) > 1 and not different),
        f"{more} {'cells that differ less' if different else 'more cells'} are not shown" * bool(more),
        f"{equal} cells equal in every run" * bool(equal),
    )
    footnote(figure, "; ".join(filter(None, parts)))
    headline(figure, title)
    return figure


def panels_of(runs: Sequence[RunLine], cells: Sequence[str], column: str) -> tuple[list[list[str]], bool]:
    """Group cells by panel, and return whether any cell differs between the runs.

    Cells whose lines are equal in every run share a panel. Panels with the largest mean spread between runs come first, and
    cells that are equal in all runs are left out. If no cell differs, all cells are returned; the longest lines come first.
    """
    groups: dict[tuple[bytes, ...], list[str]] = {}
    spread: dict[str, float] = {}
    ticks: dict[str, int] = {}
    by_cell = [run.cells.partition_by("cell", as_dict=True) for run in runs]
    for cell in cells:
        lines = [of_run.get((cell,), run.cells.clear()) for run, of_run in zip(runs, by_cell, strict=True)]
        group = groups.setdefault(tuple(line_key(line, column) for line in lines), [])
        group.append(cell)
        if group == [cell]:
            values = pl.concat(line.select("t", "rep", value=pl.col(column)) for line in lines)
            mean = values.group_by("t", "rep").agg(apart=pl.col("value").max() - pl.col("value").min())["apart"].mean()
            spread[cell] = mean if isinstance(mean, float) else 0.0
            ticks[cell] = middle_of(lines[0], column).height
    ordered = sorted(groups.values(), key=lambda cells: (-spread[cells[0]], -ticks[cells[0]]))
    different = [cells for cells in ordered if spread[cells[0]] > 0.0]
    return different or ordered, bool(different)


def _panel(
    axes: Axes, runs: Sequence[RunLine], cell: str, column: str, looks: Sequence[dict[str, Any]], *, labelled: bool
) -> None:
    groups: dict[bytes, list[int]] = {}
    for position, run in enumerate(runs):
        groups.setdefault(line_key(run.cells.filter(pl.col("cell") == cell), column), []).append(position)
    ends: list[tuple[float, str, str]] = []
    for positions in groups.values():
        first = next((position for position in positions if runs[position].is_default), positions[0])
        line, look = runs[first].cells.filter(pl.col("cell") == cell), dict(looks[first])
        middle = middle_of(line, column)
        look |= {"linewidth": 2.6, "zorder": 1.5} if runs[first].is_default else {"linewidth": 1.4, "zorder": 2}
        marker = "o" if middle.height == 1 else None  # a single tick makes no line
        axes.plot(middle["t"], middle["middle"], marker=marker, drawstyle="steps-post", clip_on=False, **look)
        if line["rep"].n_unique() > 1 and labelled:
            shade: dict[str, Any] = {"step": "post", "color": look["color"], "alpha": 0.15, "linewidth": 0}
            axes.fill_between(middle["t"], middle["low"], middle["high"], **shade)
        last = middle["middle"].drop_nulls()
        label = " = ".join(runs[position].label for position in positions)
        ends.append((float(last[-1]) if len(last) else 0.0, label, look["color"]))
    axes.set_ylim(0.0, 1.0) if column in UNIT else axes.margins(y=0.15)
    if labelled:
        _end_labels(axes, ends)


def _end_labels(axes: Axes, ends: Sequence[tuple[float, str, str]]) -> None:
    """Write each label to the right of the panel, at the end of its line. Labels that would overlap are moved apart."""
    low, high = axes.get_ylim()
    ordered = sorted(ends, key=lambda end: end[0])
    positions = [(end[0] - low) / (high - low) for end in ordered]
    for before, after in pairwise(range(len(positions))):
        positions[after] = max(positions[after], positions[before] + LINE)
    over = max(0.0, positions[-1] - 1.0) if positions else 0.0
    for index in reversed(range(len(positions))):
        above = positions[index + 1] - LINE if index + 1 < len(positions) else 1.0
        positions[index] = min(positions[index], above) if over else positions[index]
    for position, (_, label, colour) in zip(positions, ordered, strict=True):
        axes.annotate(label, (1.0, position), xycoords="axes fraction", xytext=(5, 0), textcoords="offset points",
                      va="center", fontsize=9, color=colour, annotation_clip=False)  # fmt: skip


def _styles(runs: Sequence[RunLine], *, scaled: bool) -> list[dict[str, Any]]:
    """Return a style per run: solid black for the default run, and other line styles or scale colours for all other runs."""
    from matplotlib import colormaps

    black: dict[str, Any] = {"color": "black", "linestyle": "-"}
    if scaled:
        values = np.array([run.value for run in runs], dtype=float)
        shades = colormaps["viridis"](0.9 * (values - values.min()) / (np.ptp(values) or 1.0))
        return [black if run.is_default else black | {"color": shade} for run, shade in zip(runs, shades, strict=True)]
    others = iter(line_styles(len(runs)))
    return [black if run.is_default else next(others) for run in runs]


def _colourbar(figure: Sheet, panels: Any, runs: Sequence[RunLine], setting: str) -> None:
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    values = [run.value for run in runs if run.value is not None]
    shades = ListedColormap(colormaps["viridis"](np.linspace(0.0, 0.9, 256)))
    colours = ScalarMappable(Normalize(min(values), max(values)), shades)
    bar = figure.colorbar(colours, ax=list(panels), label=setting, aspect=40)
    default = [run.value for run in runs if run.is_default and run.value is not None]
    if default:
        bar.ax.axhline(default[0], color="black", linewidth=2.6)
        panels[0].plot([], [], color="black", linewidth=2.6, label=f"default {default[0]:g}")
        panels[0].legend(fontsize=8, frameon=False, loc="best")
    bar.outline.set_edgecolor(GREY)
