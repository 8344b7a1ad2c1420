"""A quiet night, or most of a year of sweeps, deletes nothing that was never contradicted."""

from collections.abc import Sequence

from malsim.judging.axioms.engine.compare import always, is_stream
from malsim.judging.axioms.engine.events import UNSTATED, Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = always
PERIODS = ((1.0 / 24.0, 12), (30.0, 8), (7.0, 34), (1.0, 110), (60.0, 4))  # of sweeps, days, and how many
FACTS = ("x", "y", "fact 3", "fact 4", "fact 5")


def stream(pick: Pick, subject: Subject) -> list[Event]:
    """Draw one or more claimed objects, and sweeps every hour, day, week, month or two months."""
    period, count = pick.by_turns(PERIODS)
    sweeps = [Event(round(period * (place + 1), 6), "tick") for place in range(count)]
    facts = FACTS[: pick.one((1, 2, 5))]
    claims = [Event(0.0, "write", about, "A", stated=pick.one((0.5, UNSTATED, 0.9))) for about in facts]
    return [*claims, *sweeps, *(Event(sweeps[-1].t, "peek", about) for about in facts)]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    if not is_stream(events, "write", "tick"):
        return None
    facts = [event.object for event in events if event.do == "write"]
    questions = [event.object for event in events if event.do == "peek"]
    if len(set(facts)) < len(facts) or not set(questions) <= set(facts) or events[0].do != "write":
        return None
    sweeps = [event for event in events if event.do == "tick"]
    deleted = next((name for name, look in zip(questions, subject.play(events), strict=True) if not look.items), None)
    if deleted is None:
        return None
    return f"{deleted} is A, never contradicted, was deleted by {len(sweeps)} sweeps up to day {sweeps[-1].t:g}"
