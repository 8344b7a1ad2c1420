"""A sweep repeated at the same instant changes nothing: what is taken off is taken from the anchor."""

from collections.abc import Sequence

from malsim.axioms.engine.compare import always, differs, is_stream, last, without
from malsim.axioms.engine.events import Event, Pick
from malsim.axioms.engine.subject import Subject

needs = always


def stream(pick: Pick, subject: Subject) -> list[Event]:
    claims = pick.claims(pick.count(1, 3))
    now = claims[-1].t + pick.time(1.0, 120.0)
    return [*claims, Event(now, "tick"), Event(now, "tick"), Event(now, "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    sweeps = [event for event in events if event.do == "tick"]
    if not is_stream(events, "write") or len(sweeps) != 2 or len({event.t for event in (*sweeps, events[-1])}) != 1:  # noqa: PLR2004
        return None
    if events[0].t > sweeps[0].t:
        return None
    return differs(last(subject, without(events, sweeps[1])), last(subject, events), "after the same sweep once more")
