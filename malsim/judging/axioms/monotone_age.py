"""All else equal, more age never raises a score."""

from collections.abc import Sequence

from malsim.judging.axioms.engine.compare import always, is_stream, number
from malsim.judging.axioms.engine.events import Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = always


def stream(pick: Pick, subject: Subject) -> list[Event]:
    claims = pick.claims(pick.count(1, 3))
    first = claims[-1].t + pick.time()
    return [*claims, Event(first, "peek"), Event(first + pick.time(), "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    if not is_stream(events, "write") or [event.do for event in events].count("peek") != 2:  # noqa: PLR2004  # two looks
        return None
    young, old = subject.play(events)
    for value, score in young.scores.items():
        if old.score(value) > score + subject.tolerance:
            return (
                f"{value} is {number(score)} on day {events[-2].t:g} and {number(old.score(value))} on day {events[-1].t:g}"
            )
    return None
