"""Of two equal claims the newer never ranks below the older.

The claims are about two objects: two questions are asked. Of a memory of the user's own only beliefs are compared, no ranks.
"""

from collections.abc import Sequence

from malsim.judging.axioms.engine.compare import number
from malsim.judging.axioms.engine.events import Event, Pick
from malsim.judging.axioms.engine.subject import Subject


def needs(subject: Subject) -> str | None:
    return "the ranks of two questions are not compared" if subject.user and not subject.belief else None


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
    looks = subject.play(events)
    if subject.user and not all(look.beliefs for look in looks):
        return None
    older, newer = (look.score("A") for look in looks)
    if newer < older - subject.tolerance:
        return f"the older claim is {number(older)}, the newer one {number(newer)}"
    return None
