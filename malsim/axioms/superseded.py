"""What its own writer superseded does not lead.

Does not apply to a memory without edges.
"""

from collections.abc import Sequence

from malsim.adapters import Edge
from malsim.axioms.engine.compare import has_edges, in_order, last, leads, number
from malsim.axioms.engine.events import Event, Pick
from malsim.axioms.engine.subject import Subject

needs = has_edges


def stream(pick: Pick, subject: Subject) -> list[Event]:
    later = pick.time(0.1, 60.0)
    new = Event(later, "write", value="B", stated=pick.one((0.5, 0.7)), edges=(Edge("supersedes", "x is A"),))
    return [Event(0.0, "write", value="A"), new, Event(later + 1.0, "tick"), Event(later + 2.0, "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    writes = [event for event in events if event.do == "write"]
    if [event.value for event in writes] != ["A", "B"] or not writes[1].edges or events[-1].do != "peek":
        return None
    if not in_order(events):
        return None
    look = last(subject, events)
    if leads(look, "B"):
        return None
    return f"A is {number(look.score('A'))}, and B, which supersedes it, {number(look.score('B'))}"
