"""What nobody said is not believed: no value that nobody gave, nothing about what nobody spoke of."""

from collections.abc import Sequence

from malsim.judging.axioms.engine.compare import always, is_stream, number
from malsim.judging.axioms.engine.events import Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = always


def stream(pick: Pick, subject: Subject) -> list[Event]:
    events = pick.claims(pick.count(1, 4))
    for _ in range(pick.count(0, 2)):
        events.append(Event(events[-1].t + pick.time(), pick.one(("tick", "read"))))
    now = events[-1].t
    return [*events, Event(now, "peek", "y"), Event(now, "peek", "x")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    if not is_stream(events, "write") or any(event.do == "write" and event.object != "x" for event in events):
        return None
    given = {"x": {event.value for event in events if event.do == "write"}}
    looks = [event.object for event in events if event.do == "peek"]
    for about, look in zip(looks, subject.play(events), strict=True):
        for value, score in look.scores.items():
            if value not in given.get(about, set()) and score > subject.tolerance:
                return f"{about} is said to be {value}, with a score of {number(score)}: nobody said so"
    return None
