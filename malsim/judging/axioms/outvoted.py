"""What more writers say, and say later, leads."""

from collections.abc import Sequence

from malsim.judging.axioms.engine.compare import always, in_order, is_stream, last, leads, number
from malsim.judging.axioms.engine.events import MINUTE, Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = always
DAY, SOON, LONGEST = 1.0, 0.5, 20.0


def stream(pick: Pick, subject: Subject) -> list[Event]:
    """Draw a stream: some writers claim A, or a different value each; then more claim B; a wait and a sweep follow."""
    before, more = pick.by_turns((1, 2, 4, 1, 6, 15)), pick.count(1, 3)
    events, t, apart = list[Event](), 0.0, pick.by_turns(("A", "A", "A", "A", "ACDE"))
    for place in range(2 * before + more):
        t += pick.time(MINUTE, SOON) if place != before else pick.time(DAY, 5.0)
        value = "B" if place >= before else apart[place % len(apart)]
        events.append(Event(round(t, 6), "write", value=value, writer=f"w{place}"))
    end = round(t + pick.time(MINUTE, LONGEST), 6)
    return [*events, Event(end, "tick"), Event(end, "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    claims = [event for event in events if event.do == "write"]
    values = "".join(event.value for event in claims)
    before, after = len(values.rstrip("B")), values.count("B")
    if not is_stream(events, "write", "tick") or not in_order(claims) or before + after != len(claims) or not before:
        return None
    if after <= before or len({event.writer for event in claims}) < len(claims) or events[-1].t < claims[-1].t:
        return None
    if claims[before].t - claims[before - 1].t < DAY:
        return None
    look = last(subject, events)
    if leads(look, "B"):
        return None
    others = ", ".join(f"{value} {number(score)}" for value, score in sorted(look.scores.items()) if value != "B")
    return f"B is {number(look.score('B'))} by {after} writers, {others} by {before}, who spoke before them"
