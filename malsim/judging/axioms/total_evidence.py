"""No write, and no sweep right after it, lowers the evidence kept on a topic to nothing."""

from collections.abc import Sequence

from malsim.judging.axioms.engine.compare import always, is_stream
from malsim.judging.axioms.engine.events import Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = always
LONG = 1000.0  # the day from which late claims go back


def stream(pick: Pick, subject: Subject) -> list[Event]:
    events: list[Event] = []
    kind = pick.by_turns(("apart", "at once", "swept", "late"))
    for claim in pick.claims(pick.count(1, 5), values=pick.one(("AB", "ABC"))):
        t = 0.0 if kind == "at once" else LONG - claim.t if kind == "late" else claim.t
        events += [claim.moved(lambda _, t=t: t), *([Event(t, "tick")] if kind == "swept" else []), Event(t, "peek")]  # type: ignore[misc]
    return events


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    if not is_stream(events, "write") or events[0].do != "write":
        return None
    count = 0
    for peek, look in zip((event for event in events if event.do == "peek"), subject.play(events), strict=True):
        if count and not look.items:
            return f"{count} item about x was kept, and none after the claim of day {peek.t:g}"
        count = len(look.items)
    return None
