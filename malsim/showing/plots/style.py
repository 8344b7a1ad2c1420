"""Style shared by all figures: colour-blind-safe colours, dashes for greyscale printing, and units on axes."""

from __future__ import annotations

import io
import textwrap
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from malsim.base.files.outputs import drawable, whole_file
from malsim.base.plain_text import plain_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's palette, ordered so that neighbouring colours differ in greyscale
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)), (0, (3, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
GREY = "#666666"
RESOLUTION = 130
NOTEBOOK = 100  # dots per inch of figures in notebooks, low to keep files small
NARROW = 6.8  # figure width in inches at which 8-point text is readable on a page 480 pixels wide
LETTERS = 11.6  # average number of characters per inch in a headline


class Sheet(Figure):
    """Figure that notebooks display and `savefig` writes, without a window system. Text is drawn literally."""

    def draw(self, renderer: Any) -> None:
        """Draw the figure with control characters removed. Dollar signs are literal, except in tick labels of log axes."""
        powers = {
            label
            for axes in self.axes
            for axis in (axes.xaxis, axes.yaxis)
            if axis.get_scale() == "log"
            for label in axis.get_ticklabels(which="both")
        }
        for text in self.findobj(Text):
            text.set_parse_math(text in powers)
            if (plain := plain_text(text.get_text())) != text.get_text():
                text.set_text(plain)
        super().draw(renderer)

    def savefig(self, fname: Any, **kwargs: Any) -> None:
        """Write the figure to a file, either completely or not at all. Raise `UsageError` for an unsupported file type."""
        if not isinstance(fname, str | Path):
            super().savefig(fname, **kwargs)
            return
        if "format" not in kwargs and Path(fname).suffix[1:].lower() not in self.canvas.get_supported_filetypes():
            drawable(str(fname))
        with whole_file(fname) as temporary:
            super().savefig(temporary, **kwargs)

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=NOTEBOOK)
        return buffer.getvalue()


def sheet(width: float = 8.0, height: float = 4.0) -> Sheet:
    """Return an empty figure of the given size in inches."""
    figure = Sheet(figsize=(width, height), dpi=RESOLUTION, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def dress(axes: Axes, *, x: str, y: str, title: str = "") -> Axes:
    """Label the axes, draw a light grid, and remove the top and right spines."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if title:
        axes.set_title(title, loc="left", fontsize=10)
    axes.grid(visible=True, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def line_styles(count: int) -> list[dict[str, Any]]:
    """Return a colour and a dash pattern for each of `count` lines. The first 35 combinations are distinct."""
    pairs = zip(cycle(COLOURS), cycle(DASHES), strict=False)
    return [{"color": colour, "linestyle": dash} for colour, dash in islice(pairs, count)]


def event_lanes(axes: Axes, events: pl.DataFrame, kinds: list[str], *, most: int | None = None, **look: Any) -> None:
    """Draw one lane per kind of event, with the first kind at the top.

    Each event is drawn as a stroke. If there are more than `most` events, an evenly spaced selection is drawn.
    """
    for lane, kind in enumerate(reversed(kinds)):
        times = events.filter(pl.col("kind") == kind)["t"].unique().sort().to_numpy()
        some = times[np.linspace(0, len(times) - 1, min(len(times), most or len(times))).astype(int)]
        axes.plot(some, np.full(len(some), lane), "|", **look)
    dress(axes, x="", y="")
    axes.set_yticks(range(len(kinds)), list(reversed(kinds)), fontsize=8)
    axes.set_ylim(-0.6, len(kinds) - 0.4)


def mark(number: int) -> dict[str, Any]:
    """Return the colour and marker for the series with this index."""
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}


def headline(figure: Sheet, title: str) -> None:
    """Write a title above the figure, wrapped to the figure's width."""
    figure.suptitle(_wrapped(figure, title, LETTERS), fontsize=10, x=0.01, ha="left")


def footnote(figure: Sheet, text: str) -> None:
    """Write a note below the figure, wrapped to the figure's width. An empty note is not drawn."""
    if text:
        figure.supxlabel(_wrapped(figure, text, 1.2 * LETTERS), fontsize=8, x=0.01, ha="left", color=GREY)


def _wrapped(figure: Sheet, text: str, letters: float) -> str:
    wide = int(figure.get_figwidth() * letters)
    return "\n".join(part for line in text.split("\n") for part in textwrap.wrap(line, wide))


def intervals(axes: Axes, rows: pl.DataFrame, rows_at: Any, number: int, *, label: str = "") -> None:
    """Draw a marker with a horizontal interval for each of `rows` (value, low, high), at the heights in `rows_at`."""
    value, low, high = (rows[name].cast(pl.Float64).to_numpy() for name in rows.columns)
    spread = np.nan_to_num([value - low, high - value]).clip(min=0.0)
    look: dict[str, Any] = {"linestyle": "none", "markersize": 5, "capsize": 2, "linewidth": 1} | mark(number)
    axes.errorbar(value, rows_at, xerr=spread, label=label or None, **look)
