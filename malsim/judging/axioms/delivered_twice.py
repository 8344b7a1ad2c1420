"""A claim that is delivered twice, the same in all, counts once."""

from collections.abc import Sequence
from itertools import pairwise

from malsim.adapters import Edge
from malsim.judging.axioms.engine.compare import always, differs, is_stream, last, without
from malsim.judging.axioms.engine.events import MINUTE, Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = always


def stream(pick: Pick, subject: Subject) -> list[Event]:
    claims = pick.by_turns((pick.claims(pick.count(1, 2)), pick.claims(3), pick.story()))
    claims = [event for event in claims if event.do == "write"]
    if subject.edges and pick.count(0, 1):
        claims.append(
            Event(claims[-1].t + 1.0, "write", "y", "C", "eve", edges=(Edge("contradicts", f"x is {claims[0].value}"),))
        )
    place = pick.one((pick.count(0, len(claims) - 1), len(claims) - 1))
    twice = claims[place].moved(lambda t: t)
    claims.insert(place + 1, twice)
    return [*claims, Event(claims[-1].t + pick.time(MINUTE, 30.0), "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    writes = [event for event in events if event.do == "write"]
    again = next((two for one, two in pairwise(writes) if one == two), None)
    if not is_stream(events, "write") or again is None:
        return None
    return differs(last(subject, without(events, again)), last(subject, events), "when a claim is delivered twice")
