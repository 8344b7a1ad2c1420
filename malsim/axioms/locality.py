"""A claim by a new writer about a new thing moves nothing about another."""

from collections.abc import Sequence

from malsim.axioms.engine.compare import always, differs, is_stream, last, without
from malsim.axioms.engine.events import MINUTE, Event, Pick
from malsim.axioms.engine.subject import Subject

needs = always


def stream(pick: Pick, subject: Subject) -> list[Event]:
    claims = pick.claims(pick.count(1, 3))
    t = claims[-1].t + pick.time()
    return [*claims, Event(t, "write", object="y", value="A", writer="zoe"), Event(t + pick.time(MINUTE, 1.0), "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    new = [event for event in events if event.object == "y"]
    if not is_stream(events, "write") or len(new) != 1 or len(events) < 3:  # noqa: PLR2004  # two claims and a look
        return None
    return differs(last(subject, without(events, *new)), last(subject, events), "after a stranger spoke of y")
