"""Of two claims of two values, the older one arriving last, the older does not lead, and the newer stays."""

from collections.abc import Sequence

from malsim.axioms.engine.compare import always, is_stream, last, number, without
from malsim.axioms.engine.events import MINUTE, Event, Pick
from malsim.axioms.engine.subject import NOWHERE, Subject

needs = always


def stream(pick: Pick, subject: Subject) -> list[Event]:
    """Days apart, or on one day; by one writer, or by two."""
    older, apart = pick.time(0.1, 30.0), pick.time(0.1, 120.0)
    if pick.by_turns((False, False, True, True)):
        older, apart = float(pick.count(1, 30)), pick.time(MINUTE, 0.9)
    newer = older + apart
    claims = [Event(newer, "write", value="B"), Event(older, "write", value="A", writer=pick.by_turns(("ann", "bob")))]
    now = newer + pick.time(1.0, 30.0)
    waits = [Event(now, "peek", "y")] if pick.by_turns((False, True, True)) else []
    return [claims[0], *waits, claims[1], Event(now + pick.time(MINUTE, 30.0), "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    claims = [event for event in events if event.do == "write"]
    if [event.value for event in claims] != ["B", "A"] or not is_stream(events, "write") or claims[1].t >= claims[0].t:
        return None
    if claims[0].t > events[-1].t:
        return None
    look = last(subject, events)
    if look.score("A") > look.score("B") + subject.tolerance:
        return f"A, the older claim, is {number(look.score('A'))}, and B {number(look.score('B'))}"
    if look.score("B") == NOWHERE and last(subject, without(events, claims[1])).score("B") != NOWHERE:
        return "B is gone when A, an older claim, arrives"
    return None
