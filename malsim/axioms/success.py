"""A fresh uncontested claim is believed.

Does not apply to a memory without belief.
"""

from collections.abc import Sequence

from malsim.axioms.engine.compare import believes, last, number
from malsim.axioms.engine.events import MINUTE, Event, Pick
from malsim.axioms.engine.subject import Subject

HALF = 0.5
needs = believes


def stream(pick: Pick, subject: Subject) -> list[Event]:
    stated = round(0.7 + 0.3 * pick.share(), 2)
    return [Event(0.0, "write", value="A", stated=stated), Event(pick.time(MINUTE, 0.5), "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    if [event.do for event in events] != ["write", "peek"] or events[0].t >= events[1].t:
        return None
    score = last(subject, events).score("A")
    return None if score > HALF else f"A is {number(score)}, though nothing contests it"
