"""Evidence that says nothing moves nothing."""

from collections.abc import Sequence

from malsim.judging.axioms.engine.compare import always, differs, is_stream, last
from malsim.judging.axioms.engine.events import Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = always


def stream(pick: Pick, subject: Subject) -> list[Event]:
    claims = pick.by_turns((pick.claims(pick.count(1, 2)), pick.claims(1), pick.story()))
    t = claims[-1].t + pick.time()
    return [*claims, Event(t, "nothing"), Event(t, "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    if not is_stream(events, "write", "nothing"):
        return None
    plain = [event for event in events if event.do != "nothing"]
    return differs(last(subject, plain), last(subject, events), "after a write without claims")
