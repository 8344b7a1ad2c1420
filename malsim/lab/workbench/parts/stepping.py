"""Step through the run tick by tick, with a list of what changed in each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.base.plain_text import plain_text
from malsim.lab.workbench.view.components import FieldForm, RowTable

if TYPE_CHECKING:
    from malsim.lab.workbench.changes import Result
    from malsim.lab.workbench.parts.page_host import PageHost

MOST = 60
BACK, ON = "◀ tick", "tick ▶"


class StepPart:
    """Buttons for the tick before and after, and the changes of the tick at the mark."""

    def __init__(self, page: PageHost) -> None:
        self._page = page
        buttons = [{"word": BACK, "title": "one tick back"}, {"word": ON, "title": "one tick forward"}]
        self.form: Any = FieldForm(buttons=buttons, sizing_mode="stretch_width")
        self.form.fields = [{"name": "day", "label": "day", "kind": "number", "value": "", "width": "90px", "live": True}]
        self.table: Any = RowTable(heads=["what", "before", "after", "cause"], empty="Nothing changed in this tick.")
        self.table.sizing_mode = "stretch_width"
        self.form.answer(self._press)
        page.on_result.append(self.show)
        page.on_day.append(self.show)

    def show(self) -> None:
        """List what changed in the tick at the mark."""
        result, day = self._page.result, self._page.day
        if result is None or day is None:
            return
        self.form.fields = [
            {
                "name": "day",
                "label": "day",
                "kind": "number",
                "value": f"{day:g}",
                "width": "90px",
                "live": True,
                "fixed": True,
            }
        ]
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
        elif press == ON:
            goal = min((t for t in times if t > day), default=times[-1])
        else:
            try:
                typed = float(message["values"]["day"])
            except ValueError:
                self.form.say("A day is a number.", failed=True)
                return
            goal = max((t for t in times if t <= typed), default=times[0])
        self._page.go(goal)


def ticks_of(result: Result) -> list[float]:
    """Return the days of the recorded ticks."""
    frames = [frame["t"] for frame in (result.run.cells, result.run.signals, result.run.writers) if frame.height]
    return pl.concat(frames).unique().sort().to_list() if frames else [0.0]


def changes_at(result: Result, day: float) -> list[tuple[str, str, str, str]]:
    """Return what changed in the tick at a day, as what, before, after, cause: events, signals, cells that moved."""
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
    rows += _moves(run.signals.with_columns(signal), first, before, now, "value")
    rows += _moves(run.cells.rename({"cell": "name"}), first, before, now, run.score)
    return rows


def _moves(frame: pl.DataFrame, rep: int, before: float | None, now: float, column: str) -> list[tuple[str, str, str, str]]:
    """Return the lines of a frame whose value differs from the one at the tick before."""
    own = frame.filter(pl.col("rep") == rep)
    late = own.filter(pl.col("t") == now).select("name", pl.col(column).cast(pl.Float64).alias("after"))
    early = own.filter(pl.col("t") == (before if before is not None else float("nan")))
    early = early.select("name", pl.col(column).cast(pl.Float64).alias("before"))
    both = late.join(early, on="name", how="left", maintain_order="left")
    moved = both.filter((pl.col("after") - pl.col("before")).abs().fill_null(1.0) > 1e-9)  # noqa: PLR2004  # rounding
    return [
        (name, "" if old is None else f"{old:.4g}", f"{new:.4g}", "") for name, new, old in moved.rows() if new is not None
    ]
