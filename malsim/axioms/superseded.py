"""What was superseded does not lead, and what its own writer superseded is behind and challenges nothing any more.

Does not apply to a memory without edges.
"""

from collections.abc import Sequence

from malsim.adapters import Edge
from malsim.axioms.engine.compare import has_edges, in_order, is_stream, last, leads, number, without
from malsim.axioms.engine.events import Event, Pick
from malsim.axioms.engine.subject import Subject

needs = has_edges


def stream(pick: Pick, subject: Subject) -> list[Event]:
    """B for A by one writer or by another; or a challenge to A that its own writer takes back."""
    later = pick.time(0.1, 60.0)
    first = Event(0.0, "write", value="A")
    if pick.by_turns((False, False, True)):
        against = Event(later, "write", "y", "B", "bob", edges=(Edge("contradicts", "x is A"),))
        back = Event(later + 1.0, "write", "y", "C", "bob", edges=(Edge("supersedes", "y is B"),))
        return [first, against, back, Event(later + 2.0, "tick"), Event(later + 3.0, "peek")]
    stated, writer = pick.one((0.5, 0.7)), pick.by_turns(("ann", "bob"))
    new = Event(later, "write", value="B", writer=writer, stated=stated, edges=(Edge("supersedes", "x is A"),))
    return [first, new, Event(later + 1.0, "tick"), Event(later + 2.0, "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    writes = [event for event in events if event.do == "write"]
    if not is_stream(events, "write") or not in_order(events) or not writes[-1].edges:
        return None
    look = last(subject, events)
    if [event.value for event in writes] == ["A", "B"] and writes[-1].object == "x":
        own = writes[0].writer == writes[1].writer
        if leads(look, "B") if own else not leads(look, "A"):
            return None
        return f"A is {number(look.score('A'))}, and B, which supersedes it, {number(look.score('B'))}"
    if [event.object for event in writes] != ["x", "y", "y"]:
        return None
    alone = last(subject, without(events, writes[1]))
    if look.score("A") >= alone.score("A") - subject.tolerance:
        return None
    return f"A is {number(alone.score('A'))}, and {number(look.score('A'))} after a challenge that was taken back"
