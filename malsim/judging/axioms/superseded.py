"""What was superseded does not lead until all say it again; by its own writer, it is behind and challenges nothing.

Does not apply to a memory without edges.
"""

from collections.abc import Sequence

from malsim.adapters import Edge
from malsim.judging.axioms.engine.compare import has_edges, in_order, is_stream, last, leads, number, without
from malsim.judging.axioms.engine.events import WRITERS, Event, Pick
from malsim.judging.axioms.engine.subject import PeekResult, Subject

needs = has_edges


def stream(pick: Pick, subject: Subject) -> list[Event]:
    """Draw B superseding A by the same writer or another, after which all may claim A again; or a withdrawn challenge."""
    later = pick.time(0.1, 60.0)
    first = Event(0.0, "write", value="A")
    if pick.by_turns((False, False, True)):
        against = Event(later, "write", "y", "B", "bob", edges=(Edge("contradicts", "x is A"),))
        back = Event(later + 1.0, "write", "y", "C", "bob", edges=(Edge("supersedes", "y is B"),))
        return [first, against, back, Event(later + 2.0, "tick"), Event(later + 3.0, "peek")]
    stated, writer = pick.one((0.5, 0.7)), pick.by_turns(("ann", "bob"))
    new = Event(later, "write", value="B", writer=writer, stated=stated, edges=(Edge("supersedes", "x is A"),))
    again = [Event(later + place, "write", value="A", writer=who) for place, who in enumerate(WRITERS, start=1)]
    again = again if pick.count(0, 1) else []
    return [first, new, *again, Event(later + 5.0, "tick"), Event(later + 6.0, "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    writes = [event for event in events if event.do == "write"]
    if not is_stream(events, "write") or not in_order(events):
        return None
    look = last(subject, events)
    if [event.value for event in writes] == ["A", "B"] and writes[-1].object == "x":
        own = writes[0].writer == writes[1].writer
        if leads(look, "B") if own else not leads(look, "A"):
            return None
        return f"A is {number(look.score('A'))}, and B, which supersedes it, {number(look.score('B'))}"
    if _all_again(writes):
        anew = [event for event in events if event.t > writes[1].t]
        return _lower(look, last(subject, anew), "though all say it again after B superseded it")
    if [event.object for event in writes] != ["x", "y", "y"]:
        return None
    return _lower(look, last(subject, without(events, writes[1])), "after a challenge that was taken back")


def _all_again(writes: Sequence[Event]) -> bool:
    again = {event.writer for event in writes[2:]}
    about_x = [event.object for event in writes] == ["x"] * len(writes)
    return (
        about_x
        and [event.value for event in writes] == [*"AB", *"A" * (len(writes) - 2)]
        and {event.writer for event in writes[:2]} <= again
    )


def _lower(look: PeekResult, plain: PeekResult, what: str) -> str | None:
    """Return a sentence on how far A is below its score in the plain stream, or None if it is not below."""
    if look.score("A") >= plain.score("A") - look.tolerance:
        return None
    return f"A is {number(plain.score('A'))}, and {number(look.score('A'))} {what}"
