"""The same stream once more gives the same scores: nothing is drawn, and two memories share nothing."""

from collections.abc import Sequence

from malsim.judging.axioms.engine.compare import always, differs, is_stream, last
from malsim.judging.axioms.engine.events import MINUTE, Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = always


def stream(pick: Pick, subject: Subject) -> list[Event]:
    events = pick.by_turns((pick.claims(1), pick.claims(5), pick.story()))
    for _ in range(pick.count(0, 3)):
        events.append(Event(events[-1].t + pick.time(), pick.one(("tick", "read"))))
    return [*events, Event(events[-1].t + pick.time(MINUTE, 60.0), "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    if not is_stream(events, "write"):
        return None
    return differs(last(subject, events), last(subject, events), "and played to a new memory once more")
