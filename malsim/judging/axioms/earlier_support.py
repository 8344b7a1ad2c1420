"""A value is not worth less because it was also said earlier, however long before."""

from collections.abc import Sequence

from malsim.judging.axioms.engine.compare import always, in_order, is_stream, last, number, without
from malsim.judging.axioms.engine.events import HOUR, MINUTE, WRITERS, Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = always
SHORTEST, LONG, LONGEST, LOOK = 5.0, 60.0, 400.0, 50.0  # silences, and the longest wait for a look, days


def stream(pick: Pick, subject: Subject) -> list[Event]:
    """Draw A by one writer or more, a silence, and A again by the first or another writer; a rival and a tick may come."""
    events, t = list[Event](), 0.0
    for writer in WRITERS[: pick.count(1, 2)]:
        events.append(Event(t, "write", value="A", writer=writer))
        t = round(t + pick.time(HOUR, 1.0), 3)
    t = round(t + pick.time(pick.one((SHORTEST, LONG)), LONGEST), 3)
    events.append(Event(t, "write", value="A", writer=pick.one(("ann", "ann", "cid"))))
    if pick.by_turns((False, False, True)):
        events.append(Event(t + MINUTE, "write", value="B", writer="zoe"))
    end = round(t + pick.time(HOUR, LOOK), 3)
    return [*events, *([Event(end, "tick")] if pick.by_turns((True, False)) else []), Event(end, "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    claims = [event for event in events if event.do == "write"]
    for_a = [event for event in claims if event.value == "A"]
    if not is_stream(events, "write") or not in_order(claims) or len(for_a) < 2:  # noqa: PLR2004  # earlier, and again
        return None
    alone, look = last(subject, without(events, *for_a[:-1])).score("A"), last(subject, events).score("A")
    if look >= alone - subject.tolerance:
        return None
    return f"A is {number(look)}; said on day {for_a[-1].t:g} alone it would be {number(alone)}"
