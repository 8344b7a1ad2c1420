"""A formula over its inputs beside the shipped one: a panel for each input."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from malsim.showing.plots.style import NARROW, dress, footnote, headline, line_styles, sheet

if TYPE_CHECKING:
    from malsim.showing.plots.style import Sheet

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
