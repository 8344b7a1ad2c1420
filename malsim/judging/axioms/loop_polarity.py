"""Who defends a claim against its attacker does not lower it.

Does not apply to a memory without edges.
"""

from collections.abc import Sequence

from malsim.adapters import Edge
from malsim.judging.axioms.engine.compare import has_edges, is_stream, last, number, without
from malsim.judging.axioms.engine.events import Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = has_edges


def stream(pick: Pick, subject: Subject) -> list[Event]:
    claim = Event(0.0, "write", value="A", writer="ann")
    attacks = Event(
        1.0, "write", value="B", writer="bob", stated=pick.one((0.5, 0.9)), edges=(Edge("contradicts", "x is A"),)
    )
    defends = Event(2.0, "write", "y", "C", "cid", stated=pick.one((0.5, 0.9)), edges=(Edge("contradicts", "x is B"),))
    sweeps = [Event(3.0 + day, "tick") for day in range(pick.count(30, 31))]
    return [claim, attacks, defends, *sweeps, Event(sweeps[-1].t, "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    defends = [event for event in events if event.value == "C"]
    if not is_stream(events, "write", "tick") or len(defends) != 1 or events[0].value != "A" or events[1].value != "B":
        return None
    alone, after = last(subject, without(events, *defends)).score("A"), last(subject, events).score("A")
    if after < alone - subject.tolerance:
        return f"A is {number(alone)} under attack, {number(after)} when its attacker is contradicted"
    return None
