"""Claims of one instant give the same in one call or in many, in any order of writers."""

from collections.abc import Sequence

from malsim.judging.axioms.engine.compare import always, differs, is_stream, last
from malsim.judging.axioms.engine.events import Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = always


def stream(pick: Pick, subject: Subject) -> list[Event]:
    """Draw two claims of one instant, three about two things, or twelve; each by a different writer."""
    t, count = pick.time(), pick.by_turns((2, 3, 2, 12))
    about = pick.one(("x", "xy")) if count > 2 else "x"  # noqa: PLR2004
    claims = [Event(t, "write", pick.one(about), pick.one("AB"), f"w{place}") for place in range(count)]
    return [*claims, Event(t + pick.time(), "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    claims = events[:-1]
    if not is_stream(events, "write") or {(event.do, event.t) for event in claims} != {("write", events[0].t)}:
        return None
    if len({event.writer for event in claims}) < len(claims):
        return None
    turned, plain = [*claims[::-1], events[-1]], last(subject, events)
    return (
        differs(plain, last(subject, events, together=True), "in one call")
        or differs(plain, last(subject, turned), "in the other order of writers")
        or differs(plain, last(subject, turned, together=True), "in one call and the other order of writers")
    )
