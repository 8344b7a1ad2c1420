"""Claims by new writers about new things move nothing about another, however many they are."""

from collections.abc import Sequence

from malsim.axioms.engine.compare import always, differs, is_stream, last, without
from malsim.axioms.engine.events import MINUTE, Event, Pick
from malsim.axioms.engine.subject import Subject

needs = always


def stream(pick: Pick, subject: Subject) -> list[Event]:
    claims = pick.claims(pick.count(1, 3))
    t = claims[-1].t + pick.time()
    new = [
        Event(t, "write", "y" if not place else f"thing {place}", pick.one("ABC"), "zoe" if not place else f"w{place % 9}")
        for place in range(pick.by_turns((1, 130, 2, 12)))
    ]
    end = t + pick.time(MINUTE, 1.0)
    if pick.count(0, 3):
        return [*claims, *new, Event(end, "peek")]
    return [*(event.moved(lambda _: 0.0) for event in new), *claims, Event(end, "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    new = [event for event in events if event.object != "x"]
    own = {event.writer for event in events if event.do == "write" and event.object == "x"}
    if not is_stream(events, "write") or not new or not own or own & {event.writer for event in new}:
        return None
    plain = last(subject, without(events, *new))
    return differs(plain, last(subject, events), f"where strangers speak of {len({one.object for one in new})} other things")
