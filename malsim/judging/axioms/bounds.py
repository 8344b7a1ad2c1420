"""A belief stays in [0, 1], and nothing becomes NaN."""

from collections.abc import Sequence
from dataclasses import replace

from malsim.adapters import Edge
from malsim.base.errors import AdapterError, LawError
from malsim.base.finite import is_number
from malsim.judging.axioms.engine.compare import always, is_stream
from malsim.judging.axioms.engine.events import Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = always
CROWD, LATE, FOR_SURE = 30, 3650.0, (0.0, 1.0)
SUPPORT = (Edge("supports", "x is A"),)


def stream(pick: Pick, subject: Subject) -> list[Event]:
    """Draw a few claims, a crowd for or against one, or claims stated as certain or impossible; peek ten years later."""
    kind = pick.by_turns(("few", "crowd", "against", "certain", "late"))
    if kind in ("crowd", "against"):
        count = pick.one((3, 6, CROWD, CROWD))
        events = [Event(0.05 * place, "write", value="A", writer=f"w{place}") for place in range(count)]
        events += [Event(2.0, "write", value="B")] if kind == "against" else []
        if subject.edges and pick.count(0, 2):
            events += [Event(2.0, "write", "y", "A", f"w{place}", edges=SUPPORT) for place in range(1, 2 * count)]
    else:
        events = pick.claims(pick.count(1, 4), values="AB")
    if kind == "certain":
        events = [replace(event, stated=pick.one(FOR_SURE)) for event in events]
    if kind == "late":
        events.append(Event(events[-1].t + LATE, "tick"))
    for _ in range(pick.count(0, 4)):
        events.append(Event(events[-1].t + pick.time(), pick.one(("tick", "read", "peek"))))
    return [*events, Event(events[-1].t + pick.time(), "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    if not is_stream(events, "write"):
        return None
    try:
        looks = subject.play(events)
    except (AdapterError, LawError) as problem:
        if "belief" in problem.problem or "not a number" in problem.problem:
            return f"{problem.problem}: {problem.given}"
        raise
    for each in looks:
        for item in each.items:
            belief, rank = item.get("belief"), item["rank"]
            if not is_number(rank) or (belief is not None and not 0.0 <= belief <= 1.0):
                return f"{item['value']} has a belief of {belief} and a rank of {rank}"
    return None
