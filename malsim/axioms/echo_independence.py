"""T by an honest writer, F by another up to twenty times, then T again: F does not lead."""

from collections.abc import Sequence

from malsim.axioms.engine.compare import always, is_stream, last, number
from malsim.axioms.engine.events import MINUTE, Event, Pick
from malsim.axioms.engine.subject import Subject

needs = always
MOST = 20


def stream(pick: Pick, subject: Subject) -> list[Event]:
    gap = pick.time(MINUTE, 1.0)
    count = pick.count(1, MOST)
    echoes = [Event(round(1.0 + gap * place, 6), "write", value="B", writer="bob") for place in range(count)]
    after = round(echoes[-1].t + gap, 6)
    honest = [Event(t, "write", value="A", writer="ann") for t in (0.0, after)]
    return [honest[0], *echoes, honest[1], Event(round(after + gap, 6), "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    values = [event.value for event in events]
    if not is_stream(events, "write") or values[0] != "A" or values[-2] != "A" or set(values[1:-2]) != {"B"}:
        return None
    if len({event.t for event in events}) < len(events) or [event.t for event in events] != sorted(
        event.t for event in events
    ):
        return None
    look = last(subject, events)
    if look.score("B") > look.score("A") + subject.tolerance:
        return (
            f"B, said {len(values) - 3} times by one writer, is {number(look.score('B'))}, and A {number(look.score('A'))}"
        )
    return None
