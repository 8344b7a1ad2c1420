"""A look changes nothing."""

from collections.abc import Sequence

from malsim.judging.axioms.engine.compare import always, differs, is_stream, keeps_clock, last, without
from malsim.judging.axioms.engine.events import MINUTE, Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = always


def stream(pick: Pick, subject: Subject) -> list[Event]:
    events, now = list[Event](), 0.0
    for event in pick.by_turns((pick.claims(pick.count(1, 3)), pick.story())):
        now = max(now, event.t)
        events += [event, *[Event(now, "peek", event.object)][: pick.count(0, 3)]]
    events.append(Event(events[-1].t + 1.0, pick.one(("tick", "read"))))
    return [*events, Event(events[-1].t + pick.time(MINUTE, 60.0), "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    looks = [event for event in events[:-1] if event.do == "peek"]
    if not is_stream(events, "write") or not looks:
        return None
    plain = without(events, *looks)
    return (
        differs(last(subject, plain), last(subject, events), "looked at before that") if keeps_clock(events, plain) else None
    )
