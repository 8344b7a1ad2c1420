"""Claims of one instant give the same in one call or in many, in any order of writers."""

from collections.abc import Sequence

from malsim.axioms.engine.compare import always, differs, last
from malsim.axioms.engine.events import Event, Pick
from malsim.axioms.engine.subject import Subject

needs = always


def stream(pick: Pick, subject: Subject) -> list[Event]:
    t = pick.time()
    claims = [Event(t, "write", value=pick.one("AB"), writer=writer) for writer in ("ann", "bob")]
    return [*claims, Event(t + pick.time(), "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    if [event.do for event in events] != ["write", "write", "peek"] or events[0].t != events[1].t:
        return None
    one, two, peek = events
    plain = last(subject, events)
    return (
        differs(plain, last(subject, events, together=True), "in one call")
        or differs(plain, last(subject, [two, one, peek]), "in the other order of writers")
        or differs(plain, last(subject, [two, one, peek], together=True), "in one call and the other order of writers")
    )
