"""Agreement, use or success never lowers a score."""

from collections.abc import Sequence

from malsim.adapters import Edge
from malsim.judging.axioms.engine.compare import always, is_stream, last, number
from malsim.judging.axioms.engine.events import UNSTATED, Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = always


def stream(pick: Pick, subject: Subject) -> list[Event]:
    """Draw uses and agreement, alone or against an earlier rival."""
    events, t = [Event(0.0, "write", value="A", stated=pick.by_turns((0.9, UNSTATED, 0.9)))], 0.0
    if pick.by_turns((False, True)):
        events.append(Event(pick.time(0.1, 1.0), "write", value="B", writer="zoe"))
        t = events[-1].t
    for _ in range(pick.count(1, 3)):
        t += pick.time(0.01, 30.0)
        writer = pick.one(("ann", "bob", "cid"))
        stated = events[0].stated if writer == "ann" else pick.one((UNSTATED, 0.3, 0.3, 0.95))
        again = Event(t, "write", value="A", writer=writer, stated=stated)
        backs = Event(t, "write", "y", "A", "cid", edges=(Edge("supports", "x is A"),))
        events.append(pick.one((Event(t, "read"), again, backs if subject.edges else again)))
    events += [Event(t + pick.time(1.0, 60.0), "tick")][: pick.count(0, 1)]
    return [*events, Event(events[-1].t + pick.time(0.1, 30.0), "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    if not is_stream(events, "write") or events[0].do != "write" or events[0].t > events[-1].t:
        return None
    plain = [events[0], *(event for event in events[1:] if event.value == "B" or event.do not in ("write", "read"))]
    if len(plain) == len(events):
        return None
    alone, again = last(subject, plain).score("A"), last(subject, events).score("A")
    if again < alone - subject.tolerance:
        return f"A is {number(again)}; never used nor said again it would be {number(alone)}"
    return None
