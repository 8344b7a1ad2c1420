"""Reads turn no lead: what leads where nobody reads is not overtaken where somebody does."""

from collections.abc import Sequence

from malsim.judging.axioms.engine.compare import always, is_stream, last, overtaken
from malsim.judging.axioms.engine.events import HOUR, Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = always


def stream(pick: Pick, subject: Subject) -> list[Event]:
    """Draw rivals of unequal support, reads, then a wait; or news dated before a read that arrives after it."""
    t, now = pick.time(0.1, 20.0), pick.time(25.0, 40.0)
    voices = ("ann", "bob", "cid")[: pick.by_turns((1, 3, 2))]
    first = [Event(round(0.1 * place, 1), "write", value="A", writer=writer) for place, writer in enumerate(voices)]
    rival = Event(t, "write", value="B", writer="zoe", stated=pick.one((0.5, 0.7)))
    reads = [Event(now + place, "read") for place in range(pick.count(1, 6))]
    if pick.by_turns((False, False, True)):
        news = Event(now - 1.0, "write", value="B", writer="zoe")
        return [first[0], reads[0], news, Event(now + pick.time(HOUR, 5.0), "peek")]
    end = reads[-1].t + pick.time(5.0, 200.0)
    return [*first, rival, *reads, *[Event(end, "tick")][: pick.count(0, 1)], Event(end, "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    if not is_stream(events, "write", "read"):
        return None
    unread = [event for event in events if event.do != "read"]
    return overtaken(last(subject, unread), last(subject, events), "read")
