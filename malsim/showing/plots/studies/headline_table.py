"""A row a law, a column a question and number of honest writers: how many of the ways of seeing a change it passes."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import ListedColormap

from malsim.showing.plots.style import headline, sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from matplotlib.axes import Axes

    from malsim.showing.plots.style import Sheet

SHADES = ListedColormap(["#ffffff", "#cfe3f3", "#7fb2dd", "#2b6ca3"])


def headline_figure(passes: pl.DataFrame, *, bar: float, ways: Sequence[str], passed: str) -> Sheet:
    """`passes` has a row a law, whose count reads as `passed`, and a column "question · honest" of the ways passed."""
    names = [name for name in passes.columns if " · " in name]
    counts = passes.select(names).to_numpy()
    figure = sheet(11.0, 1.7 + 0.28 * passes.height)
    axes = figure.subplots()
    axes.imshow(counts, cmap=SHADES, vmin=-0.5, vmax=len(ways) + 0.5, aspect="auto")
    for row, column in np.ndindex(counts.shape):
        dark = counts[row, column] == len(ways)
        axes.text(column, row, str(counts[row, column]), ha="center", va="center", fontsize=8, color="w" if dark else "0.2")
    _label(axes, names)
    laws = [f"{row['law']}  ({passed.format(**row)})" for row in passes.to_dicts()]
    axes.set_yticks(range(passes.height), laws, fontsize=8)
    headline(figure, f"Who sees what is true now: ways of seeing a change ({', '.join(ways)}) with at least {bar:g} right")
    return figure


def _label(axes: Axes, names: Sequence[str]) -> None:
    """The number of honest writers below each column, the question above its columns."""
    axes.set_xticks(range(len(names)), [name.rsplit(" · ", 1)[1] for name in names], fontsize=8)
    axes.set_xlabel("honest writers", fontsize=9)
    axes.tick_params(length=0)
    start = 0
    for question, group in groupby(name.rsplit(" · ", 1)[0] for name in names):
        width = len(list(group))
        axes.text(start + (width - 1) / 2, -0.8, question.replace(", ", ",\n"), ha="center", va="bottom", fontsize=8)
        if start:
            axes.axvline(start - 0.5, color="0.4", linewidth=0.8)
        start += width
