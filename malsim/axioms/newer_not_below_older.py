"""Of two equal claims the newer never ranks below the older."""

from collections.abc import Sequence

from malsim.axioms.engine.compare import TOLERANCE, always, number
from malsim.axioms.engine.events import Event, Pick
from malsim.axioms.engine.subject import Subject

needs = always


def stream(pick: Pick, subject: Subject) -> list[Event]:
    later = pick.time()
    now = later + pick.time()
    older, newer = Event(0.0, "write", value="A"), Event(later, "write", object="y", value="A")
    return [older, newer, Event(now, "peek", object="x"), Event(now, "peek", object="y")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    if [(event.do, event.object) for event in events] != [("write", "x"), ("write", "y"), ("peek", "x"), ("peek", "y")]:
        return None
    if not (events[0].t < events[1].t <= events[2].t == events[3].t):
        return None
    older, newer = (look.score("A") for look in subject.play(events))
    if newer < older - TOLERANCE:
        return f"the older claim is {number(older)}, the newer one {number(newer)}"
    return None
