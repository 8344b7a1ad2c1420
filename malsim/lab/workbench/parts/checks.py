"""Table of checks with margin and witness, and a form that keeps a band of a trace as a check."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from malsim.base.errors import MalsimError
from malsim.base.plain_text import plain_text
from malsim.lab.workbench.view.components import FieldForm, RowTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.lab.workbench.changes import Result
    from malsim.lab.workbench.trace_lines import TraceLine
    from malsim.scenario.judge.judge import Outcome

LOOKS = {"pass": ("✓", "good"), "fail": ("✗", "bad"), "error": ("!", "odd")}


class ChecksPart:
    """Table of checks; a click on a row moves the mark to the day of its witness."""

    def __init__(self, go: Callable[[float], None], keep: Callable[[str, str], None]) -> None:
        self.table: Any = RowTable(
            heads=["", "check", "margin"], empty="This scenario has no checks. Keep one below.", sizing_mode="stretch_width"
        )
        self.form: Any = FieldForm(
            sizing_mode="stretch_width", buttons=[{"word": "Keep as check", "title": "add it to the file"}]
        )
        self._go, self._keep, self._days = go, keep, list[float | None]()
        self.table.answer(self._clicked)
        self.form.answer(self._press)
        self.form.fields = _fields("", "", "", "", "")

    def show(self, result: Result) -> None:
        self._days = [_day(outcome) for outcome in result.outcomes]
        self.table.rows = [
            {"cells": _cells(outcome), "click": day is not None}
            for outcome, day in zip(result.outcomes, self._days, strict=True)
        ]

    def offer(self, trace: TraceLine, window: tuple[float, float], days: float) -> None:
        """Fill the form with the band of a trace in a window of days."""
        first, last = max(0.0, window[0]), min(days, window[1])
        inside = [value for at, value in zip(trace.t, trace.values, strict=True) if first <= at <= last and value == value]  # noqa: PLR0124  # NaN
        low, high = (min(inside), max(inside)) if inside else (0.0, 1.0)
        spelt = (f"{math.floor(low * 100) / 100:g}", f"{math.ceil(high * 100) / 100:g}")
        self.form.fields = _fields(address_of(trace), *spelt, f"{first:.3g}", f"{last:.3g}")

    def _clicked(self, message: dict[str, Any]) -> None:
        day = self._days[int(message["row"])]
        if day is not None:
            self._go(day)

    def _press(self, message: dict[str, Any]) -> None:
        values = message["values"]
        try:
            text = property_text(**{name: str(values[name]).strip() for name in ("of", "low", "high", "start", "end")})
            self._keep(str(values["name"]), text)
        except MalsimError as problem:
            self.form.say(str(problem), failed=True)
        else:
            self.form.say(f"Kept: {text}. Save writes it into the file.")


def property_text(*, of: str, low: str, high: str, start: str, end: str) -> str:
    """Return the property that a value stays within bounds during a window of days; empty bounds are left out.

    >>> property_text(of="eff(dec_a3ee)", low="0.3", high="", start="10", end="30")
    'always[10d:30d] (eff(dec_a3ee) >= 0.3)'
    """
    bounds = [f"{of} {sign} {bound}" for sign, bound in ((">=", low), ("<=", high)) if bound]
    window = f"[{start or 0}d:{f'{end}d' if end else ''}]" if start or end else ""
    return f"always{window} ({' and '.join(bounds) or of})"


def address_of(trace: TraceLine) -> str:
    return {"effective": f"eff({trace.subject})", "currency": f"curr({trace.subject})"}.get(trace.panel, trace.subject)


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


def _day(outcome: Outcome) -> float | None:
    return outcome.verdict.margin.witness.day if outcome.verdict else None
