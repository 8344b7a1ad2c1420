"""Of two claims, the older one arriving last: a rival does not lead, and the newer stays; agreement does not lower it."""

from collections.abc import Sequence

from malsim.judging.axioms.engine.compare import always, is_stream, last, number, without
from malsim.judging.axioms.engine.events import MINUTE, Event, Pick
from malsim.judging.axioms.engine.subject import NOWHERE, Subject

needs = always


def stream(pick: Pick, subject: Subject) -> list[Event]:
    """Draw two claims, days apart or on one day, by one writer or two; in some cases the older claim agrees."""
    older, apart = pick.time(0.1, 30.0), pick.time(0.1, 120.0)
    if pick.by_turns((False, False, True, True)):
        older, apart = float(pick.count(1, 30)), pick.time(MINUTE, 0.9)
    newer = older + apart
    claims = [Event(newer, "write", value="B"), Event(older, "write", value="A", writer=pick.by_turns(("ann", "bob")))]
    if pick.by_turns((False, False, False, False, True)):
        claims[1] = Event(older, "write", value="B", writer="cid")
    now = newer + pick.time(1.0, 30.0)
    waits = [Event(now, "peek", "y")] if pick.by_turns((False, True, True)) else []
    return [claims[0], *waits, claims[1], Event(now + pick.time(MINUTE, 30.0), "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    claims = [event for event in events if event.do == "write"]
    values, writers = [event.value for event in claims], {event.writer for event in claims}
    if not is_stream(events, "write") or values not in (["B", "A"], ["B", "B"]) or (values[1] == "B" and len(writers) < 2):  # noqa: PLR2004
        return None
    if not claims[1].t < claims[0].t <= events[-1].t:
        return None
    if values[1] == "B":
        return _lower(subject, events, claims[1])
    look = last(subject, events)
    if look.score("A") > look.score("B") + subject.tolerance:
        return f"A, the older claim, is {number(look.score('A'))}, and B {number(look.score('B'))}"
    missing = look.score("B") == NOWHERE != last(subject, without(events, claims[1])).score("B")
    return "B is gone when A, an older claim, arrives" if missing else None


def _lower(subject: Subject, events: Sequence[Event], late: Event) -> str | None:
    alone, both = (last(subject, those).score("B") for those in (without(events, late), events))
    if both >= alone - subject.tolerance:
        return None
    return f"B is {number(alone)}, and {number(both)} when an older claim of it arrives"
