"""What comes first, and how much it is worth, does not depend on how many items are asked for."""

from collections.abc import Sequence

from malsim.adapters.checked_memory import MANY
from malsim.judging.axioms.engine.compare import always, is_stream, number
from malsim.judging.axioms.engine.events import MINUTE, Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = always


def stream(pick: Pick, subject: Subject) -> list[Event]:
    """Draw rivals, and peeks at the first, at two, and at all."""
    events = pick.by_turns((pick.claims(3), pick.story(), pick.claims(6)))
    now = max(event.t for event in events) + pick.time(MINUTE, 30.0)
    return [*events, *(Event(now, "peek", limit=limit) for limit in (1, 2, MANY))]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    limits = [event.limit for event in events if event.do == "peek" and event.t == events[-1].t]
    if not is_stream(events, "write") or limits[-1] != MANY:
        return None
    *some, every = subject.play(events)[-len(limits) :]
    for limit, look in zip(limits[:-1], some, strict=True):
        for item in look.items[:1]:
            value, first = str(item["value"]), str(every.items[0]["value"]) if every.items else ""
            score, whole = look.first(value), every.first(value)
            if abs(score - whole) > subject.tolerance or whole < every.first(first) - subject.tolerance:
                return (
                    f"{value} comes first with {number(score)} of {limit}; of all, {first} with {number(every.first(first))}"
                )
    return None
