"""A look changes nothing."""

from collections.abc import Sequence

from malsim.axioms.engine.compare import always, differs, is_stream, last
from malsim.axioms.engine.events import MINUTE, Event, Pick
from malsim.axioms.engine.subject import Subject

needs = always


def stream(pick: Pick, subject: Subject) -> list[Event]:
    events = []
    for claim in pick.claims(pick.count(1, 3)):
        events += [claim, Event(claim.t + pick.time(MINUTE, 1.0), "peek")]
    events.append(Event(events[-1].t + 1.0, pick.one(("tick", "read"))))
    return [*events, Event(events[-1].t + pick.time(MINUTE, 60.0), "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    looks = [event for event in events[:-1] if event.do == "peek"]
    if not is_stream(events, "write") or not looks:
        return None
    plain = [event for event in events[:-1] if event.do != "peek"]
    return differs(last(subject, [*plain, events[-1]]), last(subject, events), "looked at before that")
