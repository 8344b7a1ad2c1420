"""Figures of the workbench page, one per panel, with a shared time axis, crosshair, day mark and held traces."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import panel as pn
from bokeh.models import (
    ColumnDataSource,
    CrosshairTool,
    CustomJS,
    FixedTicker,
    HoverTool,
    PanTool,
    Range1d,
    ResetTool,
    Span,
    WheelZoomTool,
)
from bokeh.models.tools import BoxZoomTool
from bokeh.plotting import figure

from malsim.base.plain_text import plain_text
from malsim.lab.workbench.trace_lines import steps, title_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl

    from malsim.lab.workbench.trace_lines import TraceLine

COLOURS = ("#2b83c6", "#e08a00", "#12a176", "#c8649b", "#56b4e9", "#d9541e", "#8a6fd1", "#9a8b2f")
DASHES = ("solid", "dashed", "dotted", "dotdash", "dashdot")
INK = "#7b8490"  # colour that is readable on light and dark backgrounds
LANE = 0.7  # height of a true bit as a fraction of its lane
MOST_EVENTS = 2_000
MOST_BANDS = 3  # maximum number of bands per panel, because more would hide each other
FOLLOW = """
window.dispatchEvent(new CustomEvent("malsim-day", {detail: {key, day: cb_obj.x}}))
"""


@dataclass
class Looks:
    """Line colour and dash style of each trace name, assigned in order of appearance and the same in all panels."""

    indexes: dict[str, int] = field(default_factory=dict)

    def of(self, name: str) -> tuple[str, str]:
        index = self.indexes.setdefault(name, len(self.indexes))
        return COLOURS[index % len(COLOURS)], DASHES[index // len(COLOURS) % len(DASHES)]


@dataclass(frozen=True)
class Hold:
    """Traces of an earlier result that stay visible in pale colours for comparison."""

    label: str
    traces: Mapping[str, Sequence[TraceLine]]


class Stack:
    """Column of figures with one figure per panel and a strip of events."""

    def __init__(self, panels: Sequence[str], key: str, days: float, tap: Callable[[str, float, float], None]) -> None:
        self.panels = tuple(panels)
        self.x_range = Range1d(0.0, days, bounds=(-0.02 * days, 1.02 * days))
        self.reach = days
        self._guide = Span(dimension="height", line_color=INK, line_width=1, line_dash="dotted")
        self._marks: list[Span] = []
        columns = {"lines": ("xs", "ys", "colour", "dash", "width"), "held": ("xs", "ys", "colour", "alpha"),
                   "bands": ("xs", "ys", "colour")}  # fmt: skip
        self._sources = {
            panel: {kind: ColumnDataSource({name: [] for name in names}) for kind, names in columns.items()}
            for panel in panels
        }
        self.figures: dict[str, Any] = {}
        for panel in panels:
            self.figures[panel] = self._figure(panel, key, tap)
        self._events = ColumnDataSource({"t": [], "kind": [], "subject": [], "detail": [], "cause": []})
        self.events = self._event_strip(key)

    @property
    def panes(self) -> list[Any]:
        """Panel panes that hold the figures and the strip of events."""
        figures = [*self.figures.values(), self.events]
        return [pn.pane.Bokeh(figure, sizing_mode="stretch_width", margin=0) for figure in figures]

    def show(
        self,
        traces: Mapping[str, Sequence[TraceLine]],
        events: pl.DataFrame,
        holds: Sequence[Hold],
        looks: Looks,
        days: float,
    ) -> None:
        if days != self.reach:
            self.x_range.update(start=0.0, end=days, bounds=(-0.02 * days, 1.02 * days))
            self.reach = days
        for panel in self.panels:
            lines = traces.get(panel, ())
            lanes = {trace.name: len(lines) - 1 - index for index, trace in enumerate(lines)} if panel == "bits" else None
            sources = self._sources[panel]
            sources["lines"].data = _lines(lines, looks, lanes)
            sources["bands"].data = _bands(lines, looks)
            pale = [(trace, position) for position, picture in enumerate(holds) for trace in picture.traces.get(panel, ())]
            sources["held"].data = _pale(pale, looks, lanes, {trace.name for trace in lines})
            if lanes is not None:
                _label_lanes(self.figures[panel], lanes)
        frame = events.head(MOST_EVENTS)
        kinds = frame["kind"].unique(maintain_order=True).to_list()
        self.events.y_range.factors = kinds[::-1]
        self.events.height = 66 + 15 * max(len(kinds), 1)
        self._events.data = {
            "t": frame["t"].to_list(), "kind": frame["kind"].to_list(),
            **{name: [plain_text(str(text or "")) for text in frame[name]] for name in ("subject", "detail", "cause")},
        }  # fmt: skip

    def mark(self, day: float | None) -> None:
        for span in self._marks:
            span.visible = day is not None
            span.location = day

    def _figure(self, panel: str, key: str, tap: Callable[[str, float, float], None]) -> Any:
        height = 200 if panel in ("effective", "rank", "unit") else 130
        plot = bare_figure(self.x_range, height, self._guide, title_of(panel))
        sources = self._sources[panel]
        plot.patches("xs", "ys", source=sources["bands"], fill_color="colour", fill_alpha=0.14, line_alpha=0.0)
        plot.multi_line("xs", "ys", source=sources["held"], line_color="colour", line_alpha="alpha", line_width=3.5)
        plot.multi_line(
            "xs", "ys", source=sources["lines"], line_color="colour", line_dash="dash", line_width="width", line_alpha=0.95
        )
        plot.xaxis.visible = False
        self._add_mark(plot, key)
        plot.on_event("tap", lambda event: tap(panel, event.x, event.y))
        return plot

    def _event_strip(self, key: str) -> Any:
        plot = bare_figure(self.x_range, 80, self._guide, "events", y_range=[])
        marks = plot.scatter("t", "kind", source=self._events, marker="dash", angle=math.pi / 2, size=11, color=INK)
        tip = "<div style='max-width:260px'><b>@kind</b> @subject<br>day @t{0.##}: @detail<br>@cause</div>"
        plot.add_tools(HoverTool(renderers=[marks], tooltips=tip))
        self._add_mark(plot, key)
        plot.xaxis.axis_label = "time (days)"
        return plot

    def _add_mark(self, plot: Any, key: str) -> None:
        mark = Span(dimension="height", line_color="#d9541e", line_width=1.4, visible=False, location=0)
        plot.add_layout(mark)
        self._marks.append(mark)
        plot.js_on_event("mousemove", CustomJS(args={"key": key}, code=FOLLOW))


def _label_lanes(plot: Any, lanes: Mapping[str, int]) -> None:
    plot.yaxis.ticker = FixedTicker(ticks=[lane + LANE / 2 for lane in lanes.values()])
    plot.yaxis.major_label_overrides = {lane + LANE / 2: name[:18] for name, lane in lanes.items()}
    plot.y_range.update(start=-0.3, end=max(len(lanes), 1))
    plot.height = 34 + 24 * max(len(lanes), 1)


def bare_figure(x_range: Range1d, height: int, guide: Span, title: str, **options: Any) -> Any:
    """Return an empty figure with the page's tools, in colours that suit light and dark backgrounds."""
    wheel = WheelZoomTool(dimensions="width", modifiers={"ctrl": True})
    tools = [PanTool(dimensions="width"), BoxZoomTool(dimensions="width"), wheel, ResetTool()]
    crosshair = CrosshairTool(overlay=guide)
    plot = figure(
        height=height, sizing_mode="stretch_width", x_range=x_range, tools=[*tools, crosshair], toolbar_location=None,
        background_fill_alpha=0.0, border_fill_alpha=0.0, outline_line_color=None, min_border_left=58, min_border_right=8,
        title=title, **options,
    )  # fmt: skip
    plot.toolbar.active_drag = tools[1]
    plot.toolbar.active_scroll = wheel
    plot.title.update(text_color=INK, text_font_size="12px", text_font_style="normal", align="left")
    plot.grid.grid_line_color = INK
    plot.grid.grid_line_alpha = 0.16
    for axis in (plot.xaxis, plot.yaxis):
        axis.axis_line_color = axis.major_tick_line_color = INK
        axis.minor_tick_line_color = None
        axis.major_label_text_color = axis.axis_label_text_color = INK
        axis.major_label_text_font_size = axis.axis_label_text_font_size = "11px"
    return plot


def _shape(trace: TraceLine, values: tuple[float, ...], lanes: Mapping[str, int] | None) -> tuple[list[float], list[float]]:
    x, y = steps(trace.t, values)
    return (x, y) if lanes is None else (x, [LANE * value + lanes[trace.name] for value in y])


def _lines(traces: Sequence[TraceLine], looks: Looks, lanes: Mapping[str, int] | None) -> dict[str, list[Any]]:
    data: dict[str, list[Any]] = {"xs": [], "ys": [], "colour": [], "dash": [], "width": []}
    for trace in traces:
        x, y = _shape(trace, trace.values, lanes)
        colour, dash = looks.of(trace.name)
        twin = bool(trace.same_as) and lanes is None
        dash = "solid" if lanes is not None else "dotted" if twin else dash
        row = (x, y, colour, dash, 1.6 if twin else 2.0)
        for column, value in zip(data.values(), row, strict=True):
            column.append(value)
    return data


def _bands(traces: Sequence[TraceLine], looks: Looks) -> dict[str, list[Any]]:
    data: dict[str, list[Any]] = {"xs": [], "ys": [], "colour": []}
    for trace in traces[:MOST_BANDS]:
        if trace.low and trace.panel != "bits":
            x, low = steps(trace.t, trace.low)
            _, high = steps(trace.t, trace.high)
            points = [(day, a, b) for day, a, b in zip(x, low, high, strict=True) if math.isfinite(a) and math.isfinite(b)]
            data["xs"].append([day for day, _, _ in points] + [day for day, _, _ in reversed(points)])
            data["ys"].append([a for _, a, _ in points] + [b for _, _, b in reversed(points)])
            data["colour"].append(looks.of(trace.name)[0])
    return data


def _pale(
    lines: Sequence[tuple[TraceLine, int]], looks: Looks, lanes: Mapping[str, int] | None, names: set[str]
) -> dict[str, list[Any]]:
    data: dict[str, list[Any]] = {"xs": [], "ys": [], "colour": [], "alpha": []}
    for trace, index in lines:
        if trace.name in names:
            x, y = _shape(trace, trace.values, lanes)
            row = (x, y, looks.of(trace.name)[0], 0.34 - 0.06 * index)
            for column, value in zip(data.values(), row, strict=True):
                column.append(value)
    return data
