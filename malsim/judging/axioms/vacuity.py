"""A claim that contradicts nothing leaves other beliefs alone.

Does not apply to a memory without belief.
"""

from collections.abc import Sequence

from malsim.judging.axioms.engine.compare import believes, differs, is_stream, last, without
from malsim.judging.axioms.engine.events import Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = believes


def stream(pick: Pick, subject: Subject) -> list[Event]:
    claims = pick.claims(pick.count(1, 3))
    t = claims[-1].t + pick.time()
    return [*claims, Event(t, "write", object="y", value="A", writer=claims[-1].writer), Event(t, "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    new = [event for event in events if event.object == "y"]
    if not is_stream(events, "write") or len(new) != 1 or len(events) < 3 or new[0].t != events[-1].t:  # noqa: PLR2004
        return None
    return differs(last(subject, without(events, *new)), last(subject, events), "after a claim about y")
