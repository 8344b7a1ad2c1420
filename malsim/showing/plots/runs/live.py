"""A screen that redraws within a blink: the frame once, then only its lines."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.image import imsave

from malsim.showing.plots.runs.scope_screen import stairs
from malsim.showing.plots.style import dress, line_styles, sheet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.lines import Line2D

COARSE = 80


class Screen:
    """Lines by name over a fixed range, as steps; `png` draws new ones into the frame that stands.

    Parameters
    ----------
    names
        A line each, in the order of the legend.
    x, y
        What the axes show, with units.
    across, up
        The range of each axis.
    """

    def __init__(
        self, names: Sequence[str], *, x: str, y: str, across: tuple[float, float], up: tuple[float, float], title: str = ""
    ) -> None:
        figure = sheet(7.6, 3.0)
        figure.set_dpi(COARSE)
        self.axes = figure.subplots()
        self.lines: dict[str, Line2D] = {}
        for name, look in zip(names, line_styles(len(names)), strict=True):
            (self.lines[name],) = self.axes.plot([], [], label=name, linewidth=1.6, animated=True, **look)
        reach = 0.04 * (up[1] - up[0])
        self.axes.set(xlim=across, ylim=(up[0] - reach, up[1] + reach))
        dress(self.axes, x=x, y=y, title=title)
        self.axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        self.canvas = cast("Any", FigureCanvasAgg(figure))  # its drawing has no types
        self.canvas.draw()
        figure.set_layout_engine("none")
        self._frame = self.canvas.copy_from_bbox(figure.bbox)

    def png(self, lines: Mapping[str, tuple[Sequence[float], Sequence[float | None]]]) -> bytes:
        """The screen with these samples (t, values) on it; a None breaks a line, a name not given has no line."""
        self.canvas.restore_region(self._frame)
        for name, line in self.lines.items():
            t, values = lines.get(name, ((), ()))
            x, y = stairs(t, values, until=t[-1]) if len(t) else ([], [])
            line.set_data(x, np.array(y, dtype=float))
            self.axes.draw_artist(line)
        buffer = io.BytesIO()
        imsave(buffer, np.asarray(self.canvas.buffer_rgba()), format="png", pil_kwargs={"compress_level": 1})
        return buffer.getvalue()
