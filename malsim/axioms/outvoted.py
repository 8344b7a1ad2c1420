"""What more writers say, and say later, leads."""

from collections.abc import Sequence

from malsim.axioms.engine.compare import always, in_order, is_stream, last, leads, number
from malsim.axioms.engine.events import MINUTE, Event, Pick
from malsim.axioms.engine.subject import Subject

needs = always
DAY, SOON, LONGEST = 1.0, 0.5, 20.0


def stream(pick: Pick, subject: Subject) -> list[Event]:
    """Some say A, then more say B; after a wait and a sweep."""
    before, more = pick.by_turns((1, 2, 4, 1, 6)), pick.count(1, 3)
    events, t = list[Event](), 0.0
    for place in range(2 * before + more):
        t += pick.time(MINUTE, SOON) if place != before else pick.time(DAY, 5.0)
        events.append(Event(round(t, 6), "write", value="A" if place < before else "B", writer=f"w{place}"))
    end = round(t + pick.time(MINUTE, LONGEST), 6)
    return [*events, Event(end, "tick"), Event(end, "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    claims = [event for event in events if event.do == "write"]
    values = "".join(event.value for event in claims)
    before, after = values.count("A"), values.count("B")
    if not is_stream(events, "write") or not in_order(claims) or values != "A" * before + "B" * after or not before:
        return None
    if after <= before or len({event.writer for event in claims}) < len(claims) or events[-1].t < claims[-1].t:
        return None
    if claims[before].t - claims[before - 1].t < DAY:
        return None
    look = last(subject, events)
    if leads(look, "B"):
        return None
    return (
        f"B is {number(look.score('B'))} by {after} writers, A {number(look.score('A'))} by {before}, who spoke before them"
    )
