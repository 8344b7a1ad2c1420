"""A contradiction never raises its target."""

from collections.abc import Sequence

from malsim.adapters import Edge
from malsim.judging.axioms.engine.compare import always, is_stream, last, number, without
from malsim.judging.axioms.engine.events import MINUTE, Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = always


def stream(pick: Pick, subject: Subject) -> list[Event]:
    later, voices = pick.time(0.1, 120.0), pick.by_turns((1, 3, 1))
    claims = [Event(0.0, "write", value="A", writer=("ann", "cid", "zoe")[place]) for place in range(voices)]
    edges = (Edge("contradicts", "x is A"),) if subject.edges and pick.count(0, 1) else ()
    against = Event(later, "write", value="B", writer="bob", edges=edges)
    sweep = [Event(later + MINUTE, "tick")] if pick.by_turns((False, True)) else []
    return [*claims, against, *sweep, Event(later + pick.time(2 * MINUTE, 60.0), "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    rivals = [event for event in events if event.value == "B"]
    if not is_stream(events, "write") or len(rivals) != 1 or events[0].value != "A" or rivals[0].t <= events[0].t:
        return None
    if rivals[0].writer in {event.writer for event in events if event.value == "A"}:
        return None
    alone, against = last(subject, without(events, *rivals)).score("A"), last(subject, events).score("A")
    if against > alone + subject.tolerance:
        return f"A is {number(alone)}, contradicted by B {number(against)}"
    return None
