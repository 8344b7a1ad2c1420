"""The same stream on other days of the calendar, or at other hours, gives the same scores."""

from collections.abc import Sequence

from malsim.judging.axioms.engine.compare import always, differs, is_stream, last
from malsim.judging.axioms.engine.events import MINUTE, Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = always
EXACT = 64.0  # times are multiples of 1/64 day, which moved by some of those keep their distances to the last bit
SHIFTS = (3.484375, 256.0, 4096.984375)


def stream(pick: Pick, subject: Subject) -> list[Event]:
    count = pick.by_turns((2, 4, 1, 0))
    events = [event.moved(_exact) for event in (pick.claims(count) if count else pick.story())]
    for _ in range(pick.count(0, 3)):
        events.append(Event(_exact(events[-1].t + pick.time(0.1, 60.0)), pick.one(("tick", "read"))))
    return [*events, Event(_exact(events[-1].t + pick.time(MINUTE, 90.0)), "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    if not is_stream(events, "write") or any(event.t != _exact(event.t) for event in events):
        return None
    plain = last(subject, events)
    for days in SHIFTS:
        moved = [event.moved(lambda t, days=days: t + days) for event in events]  # type: ignore[misc]  # bound here
        why = differs(plain, last(subject, moved), f"when all of it happens {days:g} days later")
        if why:
            return why
    return None


def _exact(t: float) -> float:
    return round(t * EXACT) / EXACT
