"""A fresh uncontested claim is believed, of one voice or several, before a sweep and after.

Does not apply to a memory without belief.
"""

from collections.abc import Sequence

from malsim.judging.axioms.engine.compare import believes, is_stream, last, number
from malsim.judging.axioms.engine.events import MINUTE, Event, Pick
from malsim.judging.axioms.engine.subject import Subject

HALF = 0.5
needs = believes


def stream(pick: Pick, subject: Subject) -> list[Event]:
    stated, t = round(0.7 + 0.3 * pick.share(), 2), pick.time(MINUTE, 0.5)
    voices = pick.by_turns((1, 1, 3, 6))
    claims = [Event(0.0, "write", value="A", writer=f"w{place}", stated=stated) for place in range(voices)]
    return [*claims, *([Event(t, "tick")] if pick.by_turns((False, True, True)) else []), Event(t, "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    if not is_stream(events, "write") or {event.value for event in events if event.do == "write"} != {"A"}:
        return None
    if events[0].t >= events[-1].t or events[0].do != "write":
        return None
    score = last(subject, events).score("A")
    return None if score > HALF else f"A is {number(score)}, though nothing contests it"
