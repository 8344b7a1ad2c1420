"""A, then B, then A again: A leads. A tie is no lead."""

from collections.abc import Sequence

from malsim.axioms.engine.compare import always, last, number
from malsim.axioms.engine.events import MINUTE, Event, Pick
from malsim.axioms.engine.subject import Subject

needs = always


def stream(pick: Pick, subject: Subject) -> list[Event]:
    times = [0.0, pick.time(1.0, 100.0)]
    times.append(times[1] + pick.time(1.0, 100.0))
    claims = [Event(t, "write", value=value) for t, value in zip(times, "ABA", strict=True)]
    return [*claims, Event(times[-1] + pick.time(MINUTE, 0.5), "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    if [(event.do, event.value) for event in events] != [("write", "A"), ("write", "B"), ("write", "A"), ("peek", "")]:
        return None
    times = [event.t for event in events]
    if times[1] - times[0] < 1.0 or times[2] - times[1] < 1.0 or times[3] <= times[2]:
        return None
    look = last(subject, events)
    if look.score("A") > look.score("B") + subject.tolerance:
        return None
    return f"A is {number(look.score('A'))} and B {number(look.score('B'))}, though A was said last"
