"""Two rivals are not both believed above one half.

Does not apply to a memory without belief.
"""

from collections.abc import Sequence

from malsim.axioms.engine.compare import believes, last, number
from malsim.axioms.engine.events import MINUTE, Event, Pick
from malsim.axioms.engine.subject import Subject

HALF = 0.5
needs = believes


def stream(pick: Pick, subject: Subject) -> list[Event]:
    later = pick.time(0.1, 30.0)
    claims = [
        Event(0.0, "write", value="A", writer="ann"),
        Event(later, "write", value="B", writer=pick.one(("ann", "bob"))),
    ]
    return [*claims, Event(later + pick.time(MINUTE, 1.0), "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    if [(event.do, event.value) for event in events] != [("write", "A"), ("write", "B"), ("peek", "")]:
        return None
    if not events[0].t < events[1].t <= events[2].t:
        return None
    look = last(subject, events)
    both = look.score("A"), look.score("B")
    return f"A is {number(both[0])} and B {number(both[1])}" if min(both) > HALF + subject.tolerance else None
