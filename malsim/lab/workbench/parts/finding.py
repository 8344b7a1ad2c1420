"""Find the days on which a condition holds, rises or falls, and schedule values for the inputs of the net."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.base.errors import MalsimError
from malsim.lab.workbench.parts.stepping import ticks_of
from malsim.lab.workbench.view.components import FieldForm, RowTable
from malsim.netlist.language.lexicon import LOOP_WRITES
from malsim.scenario.properties.frames import trace_of
from malsim.scenario.properties.margins import Margins
from malsim.scenario.properties.parse import parse
from malsim.sim.settings.netlist_config import Input, NetlistConfig
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from malsim.lab.workbench.changes import Result
    from malsim.lab.workbench.parts.page_host import PageHost

WORDS = {"holds": "{}", "rises": "rise ({})", "falls": "fall ({})"}
BACK, ON, SET = "◀ find", "find ▶", "Set at next click"


class FindPart:
    """Jumps to the next or the previous day on which a condition of the property language holds, rises or falls."""

    def __init__(self, page: PageHost) -> None:
        self._page = page
        self.form: Any = FieldForm(buttons=[{"word": ON}, {"word": BACK}], sizing_mode="stretch_width")
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
            self.form.say("On no day of this run.", failed=True)
            return
        now = self._page.day or 0.0
        later, earlier = [day for day in days if day > now], [day for day in days if day < now]
        day = (earlier or days)[-1] if message["press"] == BACK else (later or days)[0]
        self._page.go(day)
        self.form.say(f"{days.index(day) + 1} of {len(days)}: day {day:g}")


def days_where(result: Result, condition: str, edge: str = "holds") -> list[float]:
    """Return the days on which a condition holds, rises or falls in the first replication."""
    formula = parse(WORDS[edge].format(condition))
    trace = trace_of(result.run)
    truth = Margins(trace, truth=True).of(formula)[:, 0]
    return [float(trace.times[index] / DAY) for index in np.flatnonzero(truth > 0)]


class InputsPart:
    """Schedules values of the net's free inputs; a click on the axis says the day."""

    def __init__(self, page: PageHost) -> None:
        self._page, self._waiting = page, None
        self.form: Any = FieldForm(buttons=[{"word": SET, "title": "then click on a figure"}], sizing_mode="stretch_width")
        self.table: Any = RowTable(heads=["input", "day", "value", ""], empty="No input is scheduled by hand.")
        self.table.sizing_mode = "stretch_width"
        self.form.answer(self._press)
        self.table.answer(self._dropped)
        page.on_result.append(self.show)
        page.on_tap.append(self._tapped)

    _waiting: tuple[str, float] | None

    def show(self) -> None:
        """List the inputs that the net takes, and those that were scheduled by hand."""
        wires = self._page.tuning.scenario.netlist or NetlistConfig.of("")
        free = [name for name, one in wires.net.signals.items() if one.writer is None and one.domain == "run"]
        names = [*free, *LOOP_WRITES]
        if [field.get("choices") for field in self.form.fields[:1]] != [names]:
            self.form.fields = [
                {"name": "signal", "label": "input", "choices": names, "value": names[0]},
                {"name": "value", "label": "value", "value": "1", "width": "70px"},
            ]
        self.table.rows = [
            {"cells": [one.signal, f"{one.at / DAY:g}", f"{one.value:g}", "click to remove"], "click": True}
            for one in self._page.tuning.inputs
        ]

    def _press(self, message: dict[str, Any]) -> None:
        values = message["values"]
        try:
            self._waiting = (str(values["signal"]), float(values["value"]))
        except ValueError:
            self.form.say("The value of an input is a number: 1 for true, 0 for false.", failed=True)
        else:
            self.form.say("Click on a figure at the day on which it is to be set.")

    def _tapped(self, day: float) -> bool:
        """Schedule the waiting value on a day that was clicked; return whether one waited."""
        if self._waiting is None or self._page.result is None:
            return False
        (signal, value), self._waiting = self._waiting, None
        near = min(ticks_of(self._page.result), key=lambda t: abs(t - day))
        given = Input(signal, round(near * DAY), value)
        tuning = self._page.tuning
        try:
            changed = replace(tuning, inputs=(*tuning.inputs, given))
            _ = changed.scenario
        except MalsimError as problem:
            self.form.say(str(problem), failed=True)
        else:
            self.form.say(f"{signal} is {value:g} from day {near:g} on.")
            self._page.change(changed)
        return True

    def _dropped(self, message: dict[str, Any]) -> None:
        tuning = self._page.tuning
        inputs = tuple(one for index, one in enumerate(tuning.inputs) if index != message["row"])
        self._page.change(replace(tuning, inputs=inputs))
