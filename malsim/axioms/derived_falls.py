"""What was derived from a refuted source falls with it.

Does not apply to a memory without edges.
"""

from collections.abc import Sequence

from malsim.adapters import Edge
from malsim.axioms.engine.compare import has_edges, is_stream, last, number, without
from malsim.axioms.engine.events import Event, Pick
from malsim.axioms.engine.subject import Subject

needs = has_edges


def stream(pick: Pick, subject: Subject) -> list[Event]:
    source = Event(0.0, "write", value="A", writer="ann")
    derived = Event(1.0, "write", object="y", value="A", writer="bob", edges=(Edge("derived_from", "x is A"),))
    refutes = Event(2.0, "write", value="B", writer="cid", stated=0.9, edges=(Edge("contradicts", "x is A"),))
    sweeps = [Event(3.0 + day, "tick") for day in range(pick.count(3, 6))]
    return [source, derived, refutes, *sweeps, Event(sweeps[-1].t, "peek", object="y")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    refutes = [event for event in events if event.value == "B"]
    linked_to = [event for event in events if event.object == "y" and event.do == "write"]
    if not is_stream(events, "write", "tick") or len(refutes) != 1 or len(linked_to) != 1 or events[0].value != "A":
        return None
    before, after = last(subject, without(events, *refutes)).score("A"), last(subject, events).score("A")
    if after < before - subject.tolerance:
        return None
    return f"y is {number(before)}, and {number(after)} though what it was derived from is refuted"
