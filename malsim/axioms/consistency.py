"""Of rivals, two or more, no two are believed above one half.

Does not apply to a memory without belief.
"""

from collections.abc import Sequence

from malsim.axioms.engine.compare import believes, is_stream, last, number
from malsim.axioms.engine.events import MINUTE, Event, Pick
from malsim.axioms.engine.subject import Subject

HALF = 0.5
needs = believes


def stream(pick: Pick, subject: Subject) -> list[Event]:
    count, one_voice = pick.by_turns((2, 3, 5, 2)), pick.count(0, 1)
    claims, t = list[Event](), 0.0
    for place in range(count):
        claims.append(Event(round(t, 6), "write", value="ABCDE"[place], writer="ann" if one_voice else f"w{place}"))
        t += pick.by_turns((pick.time(0.1, 30.0), 0.0, pick.time(0.1, 30.0)))
    sweep = [Event(round(t + 1.0, 6), "tick")] if pick.count(0, 1) else []
    return [*claims, *sweep, Event(round(t + 1.0 + pick.time(MINUTE, 1.0), 6), "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    values = [event.value for event in events if event.do == "write"]
    if not is_stream(events, "write") or len(set(values)) < max(len(values), 2):  # each value once, two at least
        return None
    scores = sorted(((score, value) for value, score in last(subject, events).scores.items()), reverse=True)
    if len(scores) < 2 or scores[1][0] <= HALF + subject.tolerance:  # noqa: PLR2004
        return None
    return " and ".join(f"{value} is {number(score)}" for score, value in scores if score > HALF + subject.tolerance)
