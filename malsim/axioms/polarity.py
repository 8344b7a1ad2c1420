"""A contradiction never raises its target."""

from collections.abc import Sequence

from malsim.axioms.engine.compare import always, last, number
from malsim.axioms.engine.events import MINUTE, Event, Pick
from malsim.axioms.engine.subject import Subject

needs = always


def stream(pick: Pick, subject: Subject) -> list[Event]:
    first, later = Event(0.0, "write", value="A", writer="ann"), pick.time(0.1, 120.0)
    return [first, Event(later, "write", value="B", writer="bob"), Event(later + pick.time(MINUTE, 60.0), "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    if [(event.do, event.value) for event in events] != [("write", "A"), ("write", "B"), ("peek", "")]:
        return None
    if not events[0].t < events[1].t <= events[2].t:
        return None
    alone, against = last(subject, [events[0], events[2]]).score("A"), last(subject, events).score("A")
    if against > alone + subject.tolerance:
        return f"A is {number(alone)}, contradicted by B {number(against)}"
    return None
