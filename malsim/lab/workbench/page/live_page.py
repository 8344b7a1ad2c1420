"""Workbench page for one scenario, which runs every change and updates the figures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import panel as pn
import polars as pl

from malsim.base.errors import MalsimError
from malsim.base.plain_text import plain_text
from malsim.lab.space.settings import settings_of
from malsim.lab.workbench.changes import LAW, Runner
from malsim.lab.workbench.parts.checks import ChecksPart
from malsim.lab.workbench.parts.saving import SavePart
from malsim.lab.workbench.parts.stepping import FindPart, InputsPart, StepPart
from malsim.lab.workbench.parts.why_part import WhyPart
from malsim.lab.workbench.parts.wires import WiresPart
from malsim.lab.workbench.settings_rows import setting_groups
from malsim.lab.workbench.trace_lines import SHOWN, most_moved, title_of
from malsim.lab.workbench.view.components import Legend, PageHead, SettingsPanel, laid_out
from malsim.lab.workbench.view.figures import Hold, Looks, Stack

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from malsim.lab.workbench.changes import Result, Tuning
    from malsim.lab.workbench.trace_lines import TraceLine

MOST_HOLDS = 4
MOST_BITS = 16


class LivePage:
    """Live page for one scenario. `tuning` holds the user's changes, `result` the last completed run.

    `schedule` calls a function on the page's thread. Files are saved in `folder`. `address` is called with each tuning that
    ran. `notice` is shown in the header until the first change. With `at_once`, runs are made on the calling thread.
    `on_draw` is called each time the page is drawn.
    """

    def __init__(
        self,
        tuning: Tuning,
        schedule: Callable[[Callable[[], None]], None],
        *,
        folder: Path | None = None,
        address: Callable[[Tuning], None] | None = None,
        notice: str = "",
        at_once: bool = False,
    ) -> None:
        self.key = uuid4().hex
        self.tuning = tuning
        self.result: Result | None = None
        self.day: float | None = None
        self.holds: list[Hold] = []
        self.looks = Looks()
        self.default_names: dict[str, set[str]] = {}
        self.picked: dict[str, dict[str, bool]] = {}
        self.on_draw: Callable[[], object] = lambda: None
        self._notice = notice
        self._address = address or (lambda _: None)
        self.bar: Any = PageHead(buttons=["Hold", *(["Copy link"] if address else [])], sizing_mode="stretch_width")
        self.settings: Any = SettingsPanel(
            groups=setting_groups(tuning.unset), values=dict(tuning.values), sizing_mode="stretch_width"
        )
        self.legend: Any = Legend(key=self.key, sizing_mode="stretch_width")
        self.why = WhyPart()
        self.checks = ChecksPart(self)
        self.stack: Stack | None = None
        self.plots: Any = pn.Column(sizing_mode="stretch_width", margin=0)
        self.runner = Runner(
            schedule, done=self.show, failed=self._show_error, at_once=at_once,
            progress=lambda share: self.bar.param.update(progress=share),
        )  # fmt: skip
        self.wires, self.stepping = WiresPart(self), StepPart(self)
        self.saving = SavePart(self, folder or Path.cwd())
        self.finding, self.inputs = FindPart(self), InputsPart(self)
        self.bar.answer(self._on_bar)
        self.settings.answer(self._on_setting)
        self.legend.answer(self._on_legend)
        self.view: Any = laid_out(self)

    def change(self, tuning: Tuning) -> None:
        before, self.tuning, self._notice = self.tuning, tuning, ""
        if (tuning.values.get(LAW), tuning.netlist) != (before.values.get(LAW), before.netlist):
            self.settings.groups = setting_groups(tuning.unset)
        self.settings.param.update(values=dict(tuning.values), errors={})
        if self.result is None:
            self.checks.show_unjudged(failed=False)
        self.runner.ask(tuning)

    def show(self, result: Result) -> None:
        self.result = result
        panels = tuple(result.traces)
        if self.stack is None or self.stack.panels != panels:
            self.stack = Stack(panels, self.key, result.run.scenario.days, self._tapped)
            self._draw()
            self.plots.objects = self.stack.panes
        else:
            self._draw()
        self.checks.show(result)
        self.why.show(result)
        self._head(result)
        self._address(result.tuning)
        for part in (self.wires, self.stepping, self.inputs):
            part.show()

    def go(self, day: float) -> None:
        self.day = day
        self.legend.day = day
        if self.stack:
            self.stack.mark(day)
        self.stepping.show()

    def title(self) -> str:
        return f"{self.tuning.base.name}: {changes_text(self.tuning)}"

    @property
    def window(self) -> tuple[float, float]:
        if self.stack is None:
            return 0.0, float(self.tuning.base.days)
        return float(self.stack.x_range.start), float(self.stack.x_range.end)

    def visible(self, result: Result) -> dict[str, list[TraceLine]]:
        """Return the traces to draw in each panel: the default traces, except where the user has shown or hidden one."""
        panels = {}
        for panel, traces in result.traces.items():
            picked = self.picked.get(panel, {})
            names = self._default_traces(panel, traces)
            panels[panel] = [trace for trace in traces if picked.get(trace.name, trace.name in names)]
        return panels

    def _default_traces(self, panel: str, traces: Sequence[TraceLine]) -> set[str]:
        """Return the names of the traces drawn by default: those drawn before, then those that moved most."""
        most = MOST_BITS if panel == "bits" else SHOWN
        before = [trace.name for trace in traces if trace.name in self.default_names.get(panel, set())]
        others = [trace for trace in traces if trace.name not in before]
        names = {*before, *(trace.name for trace in most_moved(others, most - len(before)))}
        self.default_names[panel] = names
        return names

    def _draw(self) -> None:
        if self.result is None or self.stack is None:
            return
        run, visible = self.result.run, self.visible(self.result)
        events = run.events.filter(pl.col("rep") == run.scenario.first)
        names = {trace.name for traces in visible.values() for trace in traces}
        quiet = {"pushed", "oriented", "bootstrapped", "expanded", "acted", "declined", "written_back"}
        events = events.filter(~pl.col("kind").is_in(quiet) | pl.col("subject").is_in(list(names)))
        self.stack.show(visible, events, self.holds, self.looks, float(run.scenario.days))
        if self.day is None:
            self.day = float(run.scenario.days)
            self.legend.day = self.day
        self.on_draw()
        self.legend.panels = [
            self._legend_panel(panel, traces, visible[panel]) for panel, traces in self.result.traces.items()
        ]

    def _legend_panel(self, panel: str, traces: tuple[TraceLine, ...], visible: list[TraceLine]) -> dict[str, Any]:
        names = {trace.name for trace in visible}
        rows = []
        for trace in traces:
            colour, dash = self.looks.of(trace.name) if trace.name in names else ("#7b8490", "solid")
            row = {"name": trace.name, "label": trace.label, "colour": colour, "dash": dash, "shown": trace.name in names}
            row["dash"] = "solid" if panel == "bits" else dash
            row["same"] = trace.same_as if trace.name in names else ""
            rows.append(row | ({"t": trace.t, "v": trace.values} if trace.name in names or panel == "bits" else {}))
        return {"name": panel, "title": title_of(panel), "traces": rows}

    def _head(self, result: Result) -> None:
        scenario, outcomes = result.run.scenario, result.outcomes
        good = sum(outcome.status == "pass" for outcome in outcomes)
        times = f", {scenario.replications} replications" if scenario.replications > 1 else ""
        about = f"{scenario.days:g} days, law {scenario.law}, seed {scenario.seed}{times}. {scenario.why}"
        self.bar.param.update(
            title=plain_text(scenario.name), about=plain_text(about), error=self._notice,
            checks=f"{good} of {len(outcomes)} checks hold" if outcomes else "",
            mark="good" if good == len(outcomes) else "bad",
        )  # fmt: skip

    def _show_error(self, tuning: Tuning, text: str) -> None:
        if tuning is self.tuning or self.result is None:
            self.bar.error = plain_text(text)
        if self.result is None:
            self.checks.show_unjudged(failed=True)

    def _tapped(self, panel: str, day: float, height: float) -> None:
        if self.result is None or self.inputs.schedule(day):
            return
        traces = self.visible(self.result)[panel]
        trace = nearest_trace(traces, day, height, lanes=panel == "bits")
        if trace is None:
            return
        tick = max((t for t in trace.t if t <= day), default=trace.t[0])
        self.go(tick)
        self.why.ask(self.result, trace, tick)
        self.checks.offer(trace, self.window, float(self.result.run.scenario.days))

    def _on_setting(self, message: dict[str, Any]) -> None:
        if "reset" in message:
            names = set(self.tuning.values) if message["reset"] == "all" else {message["reset"]}
            values = {name: value for name, value in self.tuning.values.items() if name not in names}
            self.change(replace(self.tuning, values=values))
            return
        name = str(message["name"])
        try:
            self.change(self.tuning.with_value(name, message["value"]))
        except MalsimError as problem:
            self.settings.errors = {**self.settings.errors, name: str(problem)}

    def _on_legend(self, message: dict[str, Any]) -> None:
        self.picked.setdefault(str(message["panel"]), {})[str(message["name"])] = bool(message["shown"])
        self._draw()

    def _on_bar(self, message: dict[str, Any]) -> None:
        if "drop" in message:
            del self.holds[int(message["drop"])]
        elif message.get("press") == "Hold" and self.result:
            hold = Hold(changes_text(self.result.tuning), self.visible(self.result))
            self.holds = [*self.holds, hold][-MOST_HOLDS:]
        self.bar.holds = [hold.label for hold in self.holds]
        self._draw()


def changes_text(tuning: Tuning) -> str:
    parts = [f"{name.removeprefix('rules.')} {value}" for name, value in tuning.values.items()]
    parts += ["netlist changed"] * (tuning.netlist is not None)
    if not parts:
        ceiling = settings_of(tuning.base).get("rules.challenge_ceiling")
        return "as in the file" + (f" (challenge_ceiling {ceiling.value:g})" if ceiling else "")
    return plain_text(", ".join(parts))


def nearest_trace(traces: list[TraceLine], day: float, height: float, *, lanes: bool) -> TraceLine | None:
    """Return the trace whose value on a day is nearest to `height`. In a panel of lanes, return the trace in that lane."""
    if lanes:
        lane = len(traces) - 1 - int(max(0.0, min(height, len(traces) - 0.01)))
        return traces[lane] if 0 <= lane < len(traces) else None
    distances = [(abs(value - height), index) for index, trace in enumerate(traces)
                 if (value := trace.at(day)) is not None and value == value]  # fmt: skip  # noqa: PLR0124  # NaN
    return traces[min(distances)[1]] if distances else None
