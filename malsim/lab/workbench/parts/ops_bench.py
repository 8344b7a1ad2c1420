"""Op bench: one op with a test signal at its input, sliders for its parameters, and its data sheet."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import panel as pn
import polars as pl
from bokeh.models import Range1d, Span

import ops
from malsim.base.errors import MalsimError, UsageError
from malsim.base.files.paths import inside
from malsim.base.files.table_files import read_table
from malsim.base.plain_text import plain_text
from malsim.lab.workbench.view.components import FieldForm, SettingsPanel, card, html, wrap
from malsim.lab.workbench.view.figures import Looks, bare_figure
from ops import OpError
from ops.bench.response import SIGNALS
from ops.pin.declare import bound

if TYPE_CHECKING:
    from collections.abc import Mapping

CALLS, TICK = 120, "1d"
LOOP, NOISE, FILE = "closed loop", "noise", "CSV file"
LAG = 0.2  # fraction of the distance to its input that the closed loop's plant covers per day
ENDLESS, LARGEST = 1e6, 5.0


@dataclass
class OpsBench:
    """Page for testing a single op. CSV files are read only from `folder` and its subfolders."""

    name: str
    folder: Path
    values: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        try:
            self.sheet = ops.load(self.name)
        except OpError as error:
            raise UsageError(str(error), where="op") from error
        signals = [*SIGNALS, NOISE, FILE, *([LOOP] if self.sheet.name == "pid" else [])]
        self.signal = LOOP if LOOP in signals else signals[0]
        self.form: Any = FieldForm(buttons=[{"word": "Draw"}], sizing_mode="stretch_width")
        self.form.fields = [
            {"name": "op", "label": "op", "choices": sorted(ops.names()), "value": self.name, "live": True},
            {"name": "signal", "label": "input", "choices": signals, "value": self.signal, "live": True},
            {"name": "file", "label": "CSV (t, x)", "value": "", "hint": "a file in the working folder", "width": "180px"},
        ]
        self.settings: Any = SettingsPanel(groups=[parameters(self.sheet)], sizing_mode="stretch_width")
        self.plots: Any = pn.Column(sizing_mode="stretch_width", margin=0)
        self.text: Any = html(f"<pre class='mono'>{escape(plain_text(str(self.sheet)))}</pre>")
        self.form.answer(self._press)
        self.settings.answer(self._set)
        self.draw()

    @property
    def view(self) -> Any:
        settings = card(self.settings, css_classes=["wb-settings"])
        picture = card(self.form, self.plots, css_classes=["wb-half"])
        main = pn.Column(picture, card(self.text, css_classes=["wb-half"]), css_classes=["wb-main"], margin=0,
                         sizing_mode="stretch_width", styles={"gap": "16px"})  # fmt: skip
        return wrap(settings, main)

    def draw(self) -> None:
        """Draw the op's response to the selected signal. On an error, show the message and keep the last figure."""
        try:
            frame = self.answer()
        except (MalsimError, OpError, OSError) as problem:
            self.form.say(str(problem), failed=True)
            return
        self.form.say("")
        self.plots.objects = [pn.pane.Bokeh(_figure(frame), sizing_mode="stretch_width", margin=0)]

    def answer(self) -> pl.DataFrame:
        """Return the op's response under the current parameters: t (days), the input, and every output."""
        if self.signal == LOOP:
            return closed_loop(self.values)
        if self.signal in SIGNALS:
            answer: pl.DataFrame = ops.respond(self.sheet, self.signal, self.values, tick=TICK, calls=CALLS)
            return answer
        if self.signal == NOISE:
            wave = np.random.default_rng(0).normal(0.5, 0.25, CALLS)
            frame = pl.DataFrame({"t": np.arange(float(CALLS)), "input": wave})
        else:
            file = next(str(field["value"]) for field in self.form.fields if field["name"] == "file")
            table = read_table(inside(self.folder, file, where="CSV file"))
            column = next((name for name in table.columns if name != "t" and table[name].dtype.is_numeric()), None)
            if column is None:
                raise UsageError("the file has no numeric column", where=file, hint="add a numeric column next to t")
            frame = table.rename({column: "input"}).select(*(["t"] if "t" in table.columns else []), "input")
        enable = {"enable": True} if "enable" in self.sheet.slots else {}
        out: pl.DataFrame = ops.over(frame, self.sheet.name, x="input", tick=TICK, **enable, **self.values)
        return out if "t" in out.columns else out.with_row_index("t")

    def _press(self, message: dict[str, Any]) -> None:
        values = message["values"]
        if values["op"] != self.name:
            pn.state.location.reload = True
            pn.state.location.search = f"?op={values['op']}"
            return
        self.signal = values["signal"]
        self.draw()

    def _set(self, message: dict[str, Any]) -> None:
        if "reset" in message:
            names = set(self.values) if message["reset"] == "all" else {message["reset"]}
            self.values = {name: value for name, value in self.values.items() if name not in names}
        else:
            self.values = {**self.values, message["name"]: message["value"]}
        self.settings.values = dict(self.values)
        self.draw()


def parameters(sheet: Any) -> dict[str, Any]:
    """Return the numeric settings of an op, except for its first input, as one group of the settings panel."""
    first, rows = next(iter(sheet.slots)), []
    for name, slot in sheet.slots.items():
        pin = slot.pin
        settable = slot.key in sheet.params or slot.key in sheet.ins
        if not settable or name == first or pin.type not in ("float", "int") or not np.isfinite(float(pin.first)):
            continue
        value, low, high = float(pin.first), bound(pin, "low"), bound(pin, "high")
        low = low if low >= -ENDLESS else min(-LARGEST, 2 * value)
        high = high if high <= ENDLESS else max(LARGEST, 2 * value)
        row = {"name": name, "label": name, "value": value, "unit": pin.unit, "choices": [], "whole": pin.type == "int"}
        rows.append(row | {"from": low, "to": high, "log": False, "about": f"{name}: {pin.meaning}. {low:g} to {high:g}."})
    return {"title": "Parameters", "rows": rows, "open": True}


def closed_loop(settings: Mapping[str, Any]) -> pl.DataFrame:
    """Return the step response of the op `pid` in a closed loop with a plant: t, input, y, output.

    The plant is a first-order lag: y ← y + 0.2 (output − y) per day.
    """
    sheet = ops.load("pid")
    state = ops.start(sheet, settings={"enable": True, **settings})
    rows, y = [], 0.0
    for call in range(CALLS):
        command = 1.0 if call >= CALLS // 10 else 0.0
        inputs = {"command": np.array([command]), "feedback": np.array([y])}
        state = ops.step(sheet, {**state, **inputs}, tick=sheet.length(TICK))
        u = float(state["output"][0])
        rows.append((float(call), command, y, u))
        y += LAG * (u - y)
    return pl.DataFrame(rows, schema=["t", "input", "y", "output"], orient="row")


def _figure(frame: pl.DataFrame) -> Any:
    looks = Looks()
    t = frame["t"].cast(pl.Float64).to_list()
    plot = bare_figure(Range1d(t[0], t[-1]), 320, Span(dimension="height"), "response")
    for name in frame.columns:
        if name != "t" and (frame[name].dtype.is_numeric() or frame[name].dtype == pl.Boolean):
            colour, dash = looks.of(name)
            plot.step(t, frame[name].cast(pl.Float64).to_list(), mode="after", color=colour, line_dash=dash, line_width=2,
                      legend_label=name)  # fmt: skip
    ink = {"label_text_color": "#7b8490", "label_text_font_size": "11px"}
    plot.legend.update(background_fill_alpha=0.0, border_line_alpha=0.0, **ink)
    plot.xaxis.axis_label = "time (days)"
    return plot
