"""A quiet night or a month and a half of sweeps deletes nothing that was never contradicted."""

from collections.abc import Sequence

from malsim.axioms.engine.compare import always, is_stream, last
from malsim.axioms.engine.events import Event, Pick
from malsim.axioms.engine.subject import Subject

needs = always
NIGHT, QUIET = 12, 50


def stream(pick: Pick, subject: Subject) -> list[Event]:
    period, count = pick.one(((1.0 / 24.0, NIGHT), (1.0, QUIET)))
    sweeps = [Event(round(period * (place + 1), 6), "tick") for place in range(count)]
    return [Event(0.0, "write", value="A"), *sweeps, Event(sweeps[-1].t, "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    if not is_stream(events, "write", "tick") or [event.do for event in events].count("write") != 1:
        return None
    if events[0].do != "write" or last(subject, events).items:
        return None
    sweeps = [event for event in events if event.do == "tick"]
    return f"A, never contradicted, was deleted by {len(sweeps)} sweeps up to day {sweeps[-1].t:g}"
