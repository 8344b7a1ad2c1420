"""An edge lowers its target and nothing else: no other value or thing, and what is not there is no target.

Does not apply to a memory without edges.
"""

from collections.abc import Sequence
from dataclasses import replace

from malsim.adapters import Edge
from malsim.judging.axioms.engine.compare import has_edges, is_stream, number
from malsim.judging.axioms.engine.events import Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = has_edges
THINGS, VALUES = ("x", "x", "x 2", "y"), ("1", "10", "11", "A")
SHARED = (("x", "1"), ("y", "1"), ("y", "2"))  # a value that two things have


def stream(pick: Pick, subject: Subject) -> list[Event]:
    """Draw claims about x and about like-named or like-valued things, with or without the edge's target; peek at each."""
    alike = pick.one((SHARED, tuple(zip(THINGS, VALUES, strict=True))[: pick.count(1, 4)]))
    claims = [
        Event(float(place), "write", about, value, f"w{place}", pick.one((0.5, 0.7)))
        for place, (about, value) in enumerate(alike)
    ]
    target = pick.by_turns((claims[0].claim.text, "x is gone", claims[0].claim.text))
    against = Event(5.0, "write", pick.by_turns(("z", "x")), "B", "bob", edges=(Edge("contradicts", target),))
    looks = [Event(7.0, "peek", about) for about in dict.fromkeys((*(about for about, _ in alike), against.object))]
    return [*claims, against, Event(6.0, "tick"), Event(7.0, "tick"), *looks]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    if not is_stream(events, "write") or sum(len(event.edges) for event in events) != 1:
        return None
    target = next(edge.target for event in events for edge in event.edges)
    plain = subject.play([replace(event, edges=()) for event in events])
    abouts = [event.object for event in events if event.do == "peek"]
    for about, before, after in zip(abouts, plain, subject.play(events), strict=True):
        for value in before.scores:
            if f"{about} is {value}" != target and after.score(value) < before.score(value) - subject.tolerance:
                return (
                    f"{about} is {value}: {number(before.score(value))}, and {number(after.score(value))} "
                    f"with an edge to '{target}'"
                )
    return None
