"""A constant named half-life halves in that time.

Does not apply where none is declared.
"""

from collections.abc import Sequence

from malsim.judging.axioms.engine.compare import last, number
from malsim.judging.axioms.engine.events import Event, Pick
from malsim.judging.axioms.engine.subject import Subject

FAR = 1000.0


def needs(subject: Subject) -> str | None:
    """Return the reason why the axiom does not apply, or None if the memory declares a half-life."""
    return None if subject.half_life else "it declares no half-life"


def stream(pick: Pick, subject: Subject) -> list[Event]:
    half_life = subject.half_life or 1.0
    t = 0.0 if not pick.count(0, 2) else pick.time(0.1, 30.0)
    return [Event(t, "write", value="A"), Event(t + half_life, "tick"), Event(t + half_life, "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    if [event.do for event in events] != ["write", "tick", "peek"] or not subject.half_life:
        return None
    t, late = events[0].t, events[0].t + FAR * subject.half_life
    if events[1].t != t + subject.half_life or events[2].t != events[1].t:
        return None
    start = last(subject, [events[0], Event(t, "peek")]).score("A")
    end = max(last(subject, [events[0], Event(late, "tick"), Event(late, "peek")]).score("A"), 0.0)
    half = max(last(subject, events).score("A"), 0.0)
    if abs((half - end) - (start - end) / 2.0) <= subject.tolerance:
        return None
    due = (start + end) / 2.0
    return f"from {number(start)} to {number(end)} at last, it is {number(half)} after its half-life, not {number(due)}"
