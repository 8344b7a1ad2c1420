"""Explanation of a value on a day: bars for its terms, a sentence, what would overturn it, and what reads it."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any

from malsim.base.errors import MalsimError
from malsim.base.plain_text import plain_text
from malsim.lab.workbench.view.components import html
from malsim.memory.explain import Explanation

if TYPE_CHECKING:
    from malsim.lab.workbench.changes import Result
    from malsim.lab.workbench.trace_lines import TraceLine

UP, DOWN = "#12a176", "#d9541e"
PLACEHOLDER = "<h2>Why</h2><p class='soft'>Click a trace to see why it has that value on that day.</p>"


class WhyPart:
    """Explanation of the most recently clicked trace, updated with each new result."""

    def __init__(self) -> None:
        self.view: Any = html(PLACEHOLDER)
        self._question: tuple[str, float] | None = None

    def ask(self, result: Result, trace: TraceLine, day: float) -> None:
        self._question = (trace.name, day)
        self.show(result)

    def show(self, result: Result) -> None:
        if self._question is None:
            return
        name, day = self._question
        trace = result.trace(name)
        if trace is None:
            self.view.object = f"<h2>Why</h2><p class='soft'>{_text(name)} is not in this run.</p>"
            return
        try:
            self.view.object = explained(result, trace, day)
        except MalsimError as problem:
            self.view.object = f"<h2>Why {_text(name)}</h2><p class='wb-error'>{_text(str(problem))}</p>"


def explained(result: Result, trace: TraceLine, day: float) -> str:
    """Return the explanation of a trace's value on a day as HTML. All text from the scenario is escaped."""
    value = trace.at(day)
    text = "no value yet" if value is None or math.isnan(value) else f"{value:.4g}"
    parts = [f"<h2>Why {_text(trace.name)} is {text} on day {day:g}</h2>"]
    if trace.label:
        parts.append(f"<p class='soft small'>{_text(trace.label)}</p>")
    is_score = trace.panel in ("effective", "rank")
    if is_score:
        explanation = result.run.explain(trace.name, day)
        parts.append(f"<p>{_text(explanation.why)}</p>")
        parts.append(_bars(explanation.terms.rows(), explanation.effective))
        if isinstance(explanation, Explanation):
            parts.append(f"<p class='small'>Overturned by: {_text(explanation.overturn)}.</p>")
        parts.append(_readers(explanation.read_by))
        details = str(explanation)
    else:
        details = result.run.why(trace.name.partition("(")[0] if trace.panel == "currency" else trace.name, day)
    parts.append(f"<details {'' if is_score else 'open'}><summary class='small'>in full</summary>")
    parts.append(f"<pre class='mono'>{_text(details)}</pre></details>")
    return "".join(parts)


def _bars(terms: list[tuple[str, float]], total: float) -> str:
    """Return an HTML waterfall chart of the terms, in which each bar begins where the previous one ends."""
    ends, subtotal = [], 0.0
    for _, value in terms:
        ends.append((subtotal, subtotal + value))
        subtotal += value
    finite = [end for pair in ends for end in pair if math.isfinite(end)]
    low, high = min([0.0, *finite]), max([1.0, *finite])

    def bar_between(start: float, end: float, colour: str) -> str:
        left, right = (100 * (edge - low) / (high - low) for edge in (start, end))
        return f"<i style='left:{left:.2f}%;width:{max(right - left, 0.4):.2f}%;background:{colour}'></i>"

    rows = []
    for (name, value), (start, end) in zip(terms, ends, strict=True):
        colour = UP if value >= 0 else DOWN
        bar = "" if math.isnan(value) else bar_between(min(start, end), max(start, end), colour)
        rows.append(f"<span>{_text(name)}</span><span class='track'>{bar}</span><span class='number'>{value:+.4f}</span>")
    bar = bar_between(0.0, min(max(total, low), high) if math.isfinite(total) else low, "#7b8490")
    rows.append(f"<b>effective</b><span class='track'>{bar}</span><b class='number'>{total:.4f}</b>")
    return f"<div class='terms'>{''.join(rows)}</div>"


def _readers(readers: Any) -> str:
    if readers is None or readers.is_empty():
        return "<p class='small soft'>No check and no wire reads this cell.</p>"
    rows = [f"<li>{_text(kind)} {_text(name)}</li>" for kind, name in readers.select("kind", "name").head(12).rows()]
    return (
        f"<p class='small' style='margin-bottom:0'>Read by</p><ul class='small' style='margin:0 0 6px'>{''.join(rows)}</ul>"
    )


def _text(text: str) -> str:
    return escape(plain_text(text))
