"""A writer that supports its own claim does not raise it.

Does not apply to a memory without edges.
"""

from collections.abc import Sequence
from dataclasses import replace

from malsim.adapters import Edge
from malsim.judging.axioms.engine.compare import has_edges, is_stream, last, number
from malsim.judging.axioms.engine.events import Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = has_edges


def stream(pick: Pick, subject: Subject) -> list[Event]:
    claim = Event(0.0, "write", value="A", stated=pick.one((0.5, 0.7)))
    own = [
        Event(float(day), "write", "y", value, edges=(Edge("supports", "x is A"),))
        for day, value in enumerate("ABC"[: pick.by_turns((1, 3))], start=1)
    ]
    return [claim, *own, Event(5.0, "tick"), Event(6.0, "tick"), Event(6.0, "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    writes = [event for event in events if event.do == "write"]
    if not is_stream(events, "write") or len({event.writer for event in writes}) != 1 or not any(e.edges for e in writes):
        return None
    plain, look = last(subject, [replace(event, edges=()) for event in events]), last(subject, events)
    if look.score("A") <= plain.score("A") + subject.tolerance:
        return None
    return f"A is {number(look.score('A'))} supported by its own writer, {number(plain.score('A'))} without"
