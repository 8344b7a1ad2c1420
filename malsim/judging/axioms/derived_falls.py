"""What was derived from a refuted source falls with it.

Does not apply to a memory without edges.
"""

from collections.abc import Sequence

from malsim.adapters import Edge
from malsim.judging.axioms.engine.compare import has_edges, is_stream, last, number, without
from malsim.judging.axioms.engine.events import Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = has_edges


def stream(pick: Pick, subject: Subject) -> list[Event]:
    source = Event(0.0, "write", value="A", writer="ann")
    derived = Event(1.0, "write", object="y", value="A", writer="bob", edges=(Edge("derived_from", "x is A"),))
    refutes = Event(2.0, "write", value="B", writer="cid", stated=0.9, edges=(Edge("contradicts", "x is A"),))
    further = Event(1.5, "write", "z", "A", "zoe", edges=(Edge("derived_from", "y is A"),))
    sweeps = [Event(3.0 + day, "tick") for day in range(pick.count(3, 6))]
    chain = pick.by_turns(([derived], [derived, further]))
    return [source, *chain, refutes, *sweeps, Event(sweeps[-1].t, "peek", object=chain[-1].object)]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    refutes = [event for event in events if event.value == "B"]
    linked_to = "".join(event.object for event in events if event.do == "write" and event.value == "A")
    if not is_stream(events, "write", "tick") or len(refutes) != 1 or linked_to not in ("xy", "xyz"):
        return None
    if events[-1].object != linked_to[-1]:
        return None
    before, after = last(subject, without(events, *refutes)).score("A"), last(subject, events).score("A")
    if after < before - subject.tolerance:
        return None
    return f"{linked_to[-1]} is {number(before)}, and {number(after)} though what it was derived from is refuted"
