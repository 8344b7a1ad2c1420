"""Gallery of eight shipped examples, each with a sentence and a small picture of its run."""

from __future__ import annotations

from contextvars import copy_context
from functools import cache, partial
from html import escape
from threading import Thread
from typing import TYPE_CHECKING, Any

from malsim import api
from malsim.lab.workbench.targets import example_path
from malsim.lab.workbench.trace_lines import most_moved, steps, traces_of
from malsim.lab.workbench.view.components import html
from malsim.lab.workbench.view.figures import COLOURS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from malsim.lab.workbench.trace_lines import TraceLine

EXAMPLES = {
    "worked_example": "A decision is contradicted twice: what is it worth, and why?",
    "mutual_dispute": "Three claims dispute each other. Which ceiling stops the ringing?",
    "tripwire": "An alarm that trips on evidence or age, and stays until it is acknowledged.",
    "decay_classes": "Stable, volatile and ephemeral claims lose currency, each at its own rate.",
    "overconfident_humble": "A writer surer than it is right is discounted; a humble one is not.",
    "poisoner": "A liar among honest writers, and a reader who acts on what it is shown.",
    "severity_ladder": "The more a claim is disputed, the more lamps of a ladder are lit.",
    "concern_feedback": "A watch whose own doubt counts against what it watches feeds on itself.",
}  # fmt: skip
WIDE, HIGH, LINES = 220, 74, 6


def gallery(schedule: Callable[[Callable[[], None]], None], onload: Callable[[Callable[[], None]], None]) -> Any:
    """Return the cards of the examples as one pane, to which pictures are added as their runs finish."""
    pane = html(_cards({}))

    def draw() -> None:
        pictures = {}
        for name in EXAMPLES:
            pictures[name] = _picture(name)
            schedule(partial(setattr, pane, "object", _cards(pictures)))

    onload(Thread(target=copy_context().run, args=(draw,), daemon=True, name="malsim gallery").start)
    return pane


def _cards(pictures: Mapping[str, str]) -> str:
    blank = f"<svg viewBox='0 0 {WIDE} {HIGH}' aria-hidden='true'></svg>"
    cards = [
        f"<a href='?scenario={name}'>{pictures.get(name, blank)}<h3 style='margin-top:8px'>{escape(name)}</h3>"
        f"<p class='small soft'>{escape(sentence)}</p></a>"
        for name, sentence in EXAMPLES.items()
    ]
    head = "<h2 style='font-size:18px'>malsim workbench</h2><p class='soft'>Choose an example, or name a file: "
    head += "<code>malsim workbench FILE</code>. <a href='?op=pid' style='color:inherit'>Try an op alone</a>.</p>"
    return f"{head}<div class='cards'>{''.join(cards)}</div>"


@cache
def _picture(name: str) -> str:
    run = api.run(api.read(example_path(name)).replace(replications=1), watch=iter)
    traces = traces_of(run)
    own = max((traces.get(panel, ()) for panel in ("effective", "currency")), key=_movement)
    lines = [
        _line(trace, COLOURS[index % len(COLOURS)], run.scenario.days) for index, trace in enumerate(most_moved(own, LINES))
    ]
    return f"<svg viewBox='0 0 {WIDE} {HIGH}' preserveAspectRatio='none' aria-hidden='true'>{''.join(lines)}</svg>"


def _movement(lines: Sequence[TraceLine]) -> float:
    return max((line.moved for line in lines), default=-1.0)


def _line(trace: TraceLine, colour: str, days: float) -> str:
    x, y = steps(trace.t, trace.values)
    points = [
        f"{WIDE * at / days:.1f},{HIGH - 4 - (HIGH - 8) * min(max(value, 0.0), 1.0):.1f}"
        for at, value in zip(x, y, strict=True)
        if value == value  # noqa: PLR0124  # NaN
    ]
    look = f"fill='none' stroke='{colour}' stroke-width='1.6' vector-effect='non-scaling-stroke'"
    return f"<polyline points='{' '.join(points)}' {look}/>"
