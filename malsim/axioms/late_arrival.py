"""Of two claims of two values, the older one arriving last, the older does not lead."""

from collections.abc import Sequence

from malsim.axioms.engine.compare import always, last, number
from malsim.axioms.engine.events import MINUTE, Event, Pick
from malsim.axioms.engine.subject import Subject

needs = always


def stream(pick: Pick, subject: Subject) -> list[Event]:
    """Days apart, or on one day; by one writer, or by two."""
    older, apart = pick.time(0.1, 30.0), pick.time(0.1, 120.0)
    if pick.by_turns((False, False, True, True)):
        older, apart = float(pick.count(1, 30)), pick.time(MINUTE, 0.9)
    newer = older + apart
    claims = [Event(newer, "write", value="B"), Event(older, "write", value="A", writer=pick.by_turns(("ann", "bob")))]
    return [*claims, Event(newer + pick.time(MINUTE, 30.0), "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    if [(event.do, event.value) for event in events] != [("write", "B"), ("write", "A"), ("peek", "")]:
        return None
    if not events[1].t < events[0].t <= events[2].t:
        return None
    look = last(subject, events)
    if look.score("A") > look.score("B") + subject.tolerance:
        return f"A, the older claim, is {number(look.score('A'))}, and B {number(look.score('B'))}"
    return None
