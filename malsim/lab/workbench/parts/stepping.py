"""Forms for stepping through a run, finding days, and scheduling inputs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.errors import MalsimError
from malsim.base.plain_text import plain_text
from malsim.lab.workbench.view.components import FieldForm, RowTable
from malsim.netlist.language.lexicon import LOOP_WRITES
from malsim.scenario.properties.frames import trace_of
from malsim.scenario.properties.margins import Margins
from malsim.scenario.properties.parse import parse
from malsim.sim.settings.netlist_config import Input, NetlistConfig
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from malsim.lab.workbench.changes import Result

MOST = 60
BACK, FORWARD = "◀ tick", "tick ▶"
DAY_FIELD = {"name": "day", "label": "day", "kind": "number", "value": "", "width": "90px", "live": True}


class StepPart:
    """Buttons for stepping to the previous or next tick, and a table of the changes in the current tick."""

    def __init__(self, page: Any) -> None:
        self._page = page
        buttons = [{"word": BACK, "title": "one tick back"}, {"word": FORWARD, "title": "one tick forward"}]
        self.form: Any = FieldForm(buttons=buttons, sizing_mode="stretch_width")
        self.form.fields = [DAY_FIELD]
        self.table: Any = RowTable(heads=["subject", "before", "after", "cause"], empty="Nothing changed in this tick.")
        self.table.sizing_mode = "stretch_width"
        self.form.answer(self._press)

    def show(self) -> None:
        result, day = self._page.result, self._page.day
        if result is None or day is None:
            return
        self.form.fields = [DAY_FIELD | {"value": f"{day:g}", "fixed": True}]
        changes = changes_at(result, day)
        self.form.say(f"{len(changes)} changes in the tick of day {day:g}")
        self.table.rows = [{"cells": [plain_text(str(part)) for part in row], "click": False} for row in changes[:MOST]]

    def _press(self, message: dict[str, Any]) -> None:
        result = self._page.result
        if result is None:
            return
        times, day = ticks_of(result), self._page.day or 0.0
        press = message["press"]
        if press == BACK:
            goal = max((t for t in times if t < day), default=times[0])
        elif press == FORWARD:
            goal = min((t for t in times if t > day), default=times[-1])
        else:
            try:
                typed = float(message["values"]["day"])
            except ValueError:
                self.form.say("The day must be a number.", failed=True)
                return
            goal = max((t for t in times if t <= typed), default=times[0])
        self._page.go(goal)


def ticks_of(result: Result) -> list[float]:
    frames = [frame["t"] for frame in (result.run.cells, result.run.signals, result.run.writers) if frame.height]
    return pl.concat(frames).unique().sort().to_list() if frames else [0.0]


def changes_at(result: Result, day: float) -> list[tuple[str, str, str, str]]:
    """Return the events and the changes of signals and cells in a tick, as (subject, before, after, cause)."""
    times = ticks_of(result)
    now = max((t for t in times if t <= day), default=times[0])
    before = max((t for t in times if t < now), default=None)
    run, first = result.run, result.run.scenario.first
    since = -1.0 if before is None else before
    events = run.events.filter((pl.col("rep") == first) & (pl.col("t") > since) & (pl.col("t") <= now))
    rows = [
        (f"{row['kind']} {row['subject']}", "", str(row["detail"] or ""), str(row["cause"] or ""))
        for row in events.to_dicts()
    ]
    signal = pl.when(pl.col("row").is_null()).then("signal").otherwise(pl.format("{}({})", "signal", "row")).alias("name")
    rows += _changed_values(run.signals.with_columns(signal), first, before, now, "value")
    rows += _changed_values(run.cells.rename({"cell": "name"}), first, before, now, run.score)
    return rows


def _changed_values(
    frame: pl.DataFrame, rep: int, before: float | None, now: float, column: str
) -> list[tuple[str, str, str, str]]:
    rows = frame.filter(pl.col("rep") == rep)
    late = rows.filter(pl.col("t") == now).select("name", pl.col(column).cast(pl.Float64).alias("after"))
    early = rows.filter(pl.col("t") == (before if before is not None else float("nan")))
    early = early.select("name", pl.col(column).cast(pl.Float64).alias("before"))
    both = late.join(early, on="name", how="left", maintain_order="left")
    moved = both.filter((pl.col("after") - pl.col("before")).abs().fill_null(1.0) > 1e-9)  # noqa: PLR2004  # rounding
    return [
        (name, "" if old is None else f"{old:.4g}", f"{new:.4g}", "") for name, new, old in moved.rows() if new is not None
    ]


WORDS = {"holds": "{}", "rises": "rise ({})", "falls": "fall ({})"}
FIND_BACK, FIND_FORWARD, SET = "◀ find", "find ▶", "Set at next click"


class FindPart:
    """Form that jumps to the previous or next day on which a condition holds, rises or falls."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self.form: Any = FieldForm(buttons=[{"word": FIND_FORWARD}, {"word": FIND_BACK}], sizing_mode="stretch_width")
        self.form.fields = [
            {"name": "condition", "label": "condition", "value": "", "hint": "eff(dec_a3ee) < 0.5", "width": "260px"},
            {"name": "edge", "label": "where it", "choices": list(WORDS), "value": "holds"},
        ]
        self.form.answer(self._press)

    def _press(self, message: dict[str, Any]) -> None:
        result = self._page.result
        if result is None:
            return
        values = message["values"]
        try:
            days = days_where(result, str(values["condition"]), str(values["edge"]))
        except MalsimError as problem:
            self.form.say(str(problem), failed=True)
            return
        if not days:
            self.form.say("No such day in this run.", failed=True)
            return
        now = self._page.day or 0.0
        later, earlier = [day for day in days if day > now], [day for day in days if day < now]
        day = (earlier or days)[-1] if message["press"] == FIND_BACK else (later or days)[0]
        self._page.go(day)
        self.form.say(f"{days.index(day) + 1} of {len(days)}: day {day:g}")


def days_where(result: Result, condition: str, edge: str = "holds") -> list[float]:
    """Return the days of the first replication on which a condition holds, becomes true, or becomes false."""
    formula = parse(WORDS[edge].format(condition))
    trace = trace_of(result.run)
    truth = Margins(trace, truth=True).of(formula)[:, 0]
    return [float(trace.times[index] / DAY) for index in np.flatnonzero(truth > 0)]


class InputsPart:
    """Form that schedules values for the netlist's free inputs. A click on a figure selects the day."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self._waiting: tuple[str, float] | None = None
        self.form: Any = FieldForm(buttons=[{"word": SET, "title": "then click on a figure"}], sizing_mode="stretch_width")
        self.table: Any = RowTable(heads=["input", "day", "value", ""], empty="No inputs are scheduled here.")
        self.table.sizing_mode = "stretch_width"
        self.form.answer(self._press)
        self.table.answer(self._remove)

    def show(self) -> None:
        wires = self._page.tuning.scenario.netlist or NetlistConfig.of("")
        free = [name for name, signal in wires.net.signals.items() if signal.writer is None and signal.domain == "run"]
        names = [*free, *LOOP_WRITES]
        if [field.get("choices") for field in self.form.fields[:1]] != [names]:
            self.form.fields = [
                {"name": "signal", "label": "input", "choices": names, "value": names[0]},
                {"name": "value", "label": "value", "value": "1", "width": "70px"},
            ]
        self.table.rows = [
            {"cells": [input_.signal, f"{input_.at / DAY:g}", f"{input_.value:g}", "click to remove"], "click": True}
            for input_ in self._page.tuning.inputs
        ]

    def _press(self, message: dict[str, Any]) -> None:
        values = message["values"]
        try:
            self._waiting = (str(values["signal"]), float(values["value"]))
        except ValueError:
            self.form.say("The value must be a number: 1 for true, 0 for false.", failed=True)
        else:
            self.form.say("Click on a figure to choose the day.")

    def schedule(self, day: float) -> bool:
        """Schedule the pending value for the clicked day. Return whether a value was pending."""
        if self._waiting is None or self._page.result is None:
            return False
        (signal, value), self._waiting = self._waiting, None
        tick = min(ticks_of(self._page.result), key=lambda t: abs(t - day))
        tuning = self._page.tuning
        try:
            changed = replace(tuning, inputs=(*tuning.inputs, Input(signal, round(tick * DAY), value)))
            _ = changed.scenario
        except MalsimError as problem:
            self.form.say(str(problem), failed=True)
        else:
            self.form.say(f"{signal} is {value:g} from day {tick:g} on.")
            self._page.change(changed)
        return True

    def _remove(self, message: dict[str, Any]) -> None:
        tuning = self._page.tuning
        inputs = tuple(input_ for index, input_ in enumerate(tuning.inputs) if index != message["row"])
        self._page.change(replace(tuning, inputs=inputs))
