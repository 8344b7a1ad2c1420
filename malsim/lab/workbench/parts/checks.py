"""Table of checks with their margins, and a form that turns the range of a trace into a check."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from malsim.base.errors import MalsimError
from malsim.base.plain_text import plain_text
from malsim.lab.workbench.view.components import FieldForm, RowTable

if TYPE_CHECKING:
    from malsim.lab.workbench.changes import Result
    from malsim.lab.workbench.trace_lines import TraceLine
    from malsim.scenario.judge.judge import Outcome

NO_CHECKS = "This scenario has no checks. Keep one below."
RUNNING = "The scenario is running. Its checks are judged at the end of the run."
FAILED = "The run failed, so no check was judged."

LOOKS = {"pass": ("✓", "good"), "fail": ("✗", "bad"), "error": ("!", "odd")}


class ChecksPart:
    """Table of checks. Clicking a row moves the page to the day of the check's witness."""

    def __init__(self, page: Any) -> None:
        self.table: Any = RowTable(heads=["", "check", "margin"], empty=RUNNING, sizing_mode="stretch_width")
        self.form: Any = FieldForm(
            sizing_mode="stretch_width", buttons=[{"word": "Keep as check", "title": "add to the checks"}]
        )
        self._page, self._days = page, list[float | None]()
        self.table.answer(lambda message: self._go_to_witness(int(message["row"])))
        self.form.answer(self._press)
        self.form.fields = _fields("", "", "", "", "")

    def show(self, result: Result) -> None:
        verdicts = [outcome.verdict for outcome in result.outcomes]
        self._days = [verdict.margin.witness.day if verdict else None for verdict in verdicts]
        rows = [
            {"cells": _cells(outcome), "click": day is not None}
            for outcome, day in zip(result.outcomes, self._days, strict=True)
        ]
        self.table.param.update(rows=rows, empty=NO_CHECKS)

    def show_unjudged(self, *, failed: bool) -> None:
        """Show, in place of the checks, that the page's first run is in progress, or that it failed."""
        self.table.empty = FAILED if failed else RUNNING

    def offer(self, trace: TraceLine, window: tuple[float, float], days: float) -> None:
        """Fill in the form with the range of a trace in a window of days."""
        first, last = max(0.0, window[0]), min(days, window[1])
        inside = [value for t, value in zip(trace.t, trace.values, strict=True) if first <= t <= last and value == value]  # noqa: PLR0124  # NaN
        low, high = (min(inside), max(inside)) if inside else (0.0, 1.0)
        bounds = (f"{math.floor(low * 100) / 100:g}", f"{math.ceil(high * 100) / 100:g}")
        address = {"effective": f"eff({trace.name})", "currency": f"curr({trace.name})"}.get(trace.panel, trace.name)
        self.form.fields = _fields(address, *bounds, f"{first:.3g}", f"{last:.3g}")

    def _go_to_witness(self, row: int) -> None:
        if (day := self._days[row]) is not None:
            self._page.go(day)

    def _press(self, message: dict[str, Any]) -> None:
        values = message["values"]
        try:
            text = property_text(**{name: str(values[name]).strip() for name in ("of", "low", "high", "start", "end")})
            self._page.change(self._page.tuning.with_check(str(values["name"]), text))
        except MalsimError as problem:
            self.form.say(str(problem), failed=True)
        else:
            self.form.say(f"Added: {text}. Save the scenario to keep it.")


def property_text(*, of: str, low: str, high: str, start: str, end: str) -> str:
    """Return a property which states that a value stays within bounds during a window of days. Empty bounds are omitted.

    >>> property_text(of="eff(dec_a3ee)", low="0.3", high="", start="10", end="30")
    'always[10d:30d] (eff(dec_a3ee) >= 0.3)'
    """
    bounds = [f"{of} {sign} {bound}" for sign, bound in ((">=", low), ("<=", high)) if bound]
    window = f"[{start or 0}d:{f'{end}d' if end else ''}]" if start or end else ""
    return f"always{window} ({' and '.join(bounds) or of})"


def _fields(of: str, low: str, high: str, start: str, end: str) -> list[dict[str, Any]]:
    values = (("of", "value", of, "150px"), ("low", "at least", low, "70px"), ("high", "at most", high, "70px"),
              ("start", "from day", start, "70px"), ("end", "to day", end, "70px"))  # fmt: skip
    fields = [
        {"name": name, "label": label, "value": value, "width": width, "fixed": True} for name, label, value, width in values
    ]
    return [*fields, {"name": "name", "label": "name", "value": "", "hint": "what must hold", "width": "170px"}]


def _cells(outcome: Outcome) -> list[Any]:
    mark, look = LOOKS[outcome.status]
    margin = "" if outcome.margin is None or not math.isfinite(outcome.margin) else f"{outcome.margin:+.3g}"
    title = plain_text(f"{outcome.check.property}\n{outcome.message}")
    name = plain_text(outcome.check.name)
    if outcome.status != "pass":
        name += f": {plain_text(outcome.message)}"
    return [{"text": mark, "look": look}, {"text": name, "title": title}, {"text": margin, "look": f"number {look}"}]
