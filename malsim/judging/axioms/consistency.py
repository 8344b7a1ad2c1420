"""Of rivals, two or more, no two are believed above one half, and all together not above one.

Does not apply to a memory without belief.
"""

import math
from collections.abc import Sequence

from malsim.judging.axioms.engine.compare import believes, is_stream, last, number
from malsim.judging.axioms.engine.events import MINUTE, Event, Pick
from malsim.judging.axioms.engine.subject import Subject

HALF = 0.5
needs = believes


def stream(pick: Pick, subject: Subject) -> list[Event]:
    """Draw two or more values, each once, by one writer or several, at once or apart; or repeated in turn."""
    values = pick.by_turns(("AB", "ABC", "ABCDE", "AB", "ABABABABAB", "ABCABCABC"))
    one_voice = len(set(values)) == len(values) and pick.count(0, 1)
    claims, t = list[Event](), 0.0
    for place, value in enumerate(values):
        claims.append(Event(round(t, 6), "write", value=value, writer="ann" if one_voice else f"w{place}"))
        t += pick.by_turns((pick.time(0.1, 30.0), 0.0, pick.time(0.1, 30.0)))
    sweep = [Event(round(t + 1.0, 6), "tick")] if pick.count(0, 1) else []
    return [*claims, *sweep, Event(round(t + 1.0 + pick.time(MINUTE, 1.0), 6), "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    values = [event.value for event in events if event.do == "write"]
    if not is_stream(events, "write") or len(set(values)) < 2:  # noqa: PLR2004  # rivals
        return None
    scores = sorted(((score, value) for value, score in last(subject, events).scores.items()), reverse=True)
    several = len(scores) > 1 and scores[1][0] > HALF + subject.tolerance
    if not several and math.fsum(score for score, _ in scores) <= 1.0 + len(scores) * subject.tolerance:
        return None
    return " and ".join(f"{value} is {number(score)}" for score, value in scores if score > HALF or not several)
