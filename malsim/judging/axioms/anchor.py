"""A sweep repeated at the same instant changes nothing: what is taken off is taken from the anchor."""

from collections.abc import Sequence

from malsim.judging.axioms.engine.compare import always, differs, is_stream, last, without
from malsim.judging.axioms.engine.events import Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = always


def stream(pick: Pick, subject: Subject) -> list[Event]:
    claims = pick.by_turns((pick.claims(pick.count(1, 3)), pick.claims(2), pick.story()))
    now = claims[-1].t + pick.time(1.0, 120.0)
    return [*claims, Event(now, "tick"), Event(now, "tick"), Event(now, "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    sweeps = [event.do == "tick" and event.t == events[-1].t for event in events[-3:-1]]
    if not is_stream(events, "write") or sweeps != [True, True] or max(event.t for event in events) > events[-1].t:
        return None
    return differs(last(subject, without(events, events[-2])), last(subject, events), "after the same sweep once more")
