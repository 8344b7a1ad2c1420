"""A, then B, then A again, by one voice or several: B leads once all say it, and A when half of them say it again.

A tie is no lead.
"""

from collections.abc import Sequence
from itertools import groupby, pairwise

from malsim.judging.axioms.engine.compare import always, in_order, is_stream, leads, number
from malsim.judging.axioms.engine.events import MINUTE, WRITERS, Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = always
DAY, SOON = 1.0, 0.1


def stream(pick: Pick, subject: Subject) -> list[Event]:
    voices = pick.by_turns((1, 2, 3, 2))
    values = pick.by_turns(("ABA", "ABA", "ABA", "ABCA", "ABABA"))
    events, t = list[Event](), 0.0
    for place, value in enumerate(values):
        returned = place == len(values) - 1
        speakers = WRITERS[: pick.count((voices + 1) // 2, voices) if returned else voices]
        for writer in speakers:
            events.append(Event(round(t, 6), "write", value=value, writer=writer))
            t += pick.time(MINUTE, SOON)
        t += pick.time(DAY, 100.0)
    end = round(events[-1].t + pick.time(MINUTE, 0.5), 6)
    return [*events, Event(end, "tick"), Event(end, "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    claims = [event for event in events if event.do == "write"]
    phases = [list(group) for _, group in groupby(claims, key=lambda event: event.value)]
    if not is_stream(events, "write") or not in_order(claims) or any(event.do == "read" for event in events):
        return None
    if any(new[0].t - old[-1].t < DAY for old, new in pairwise(phases)) or len(phases) < 3:  # noqa: PLR2004  # A, B, A
        return None
    if claims[-1].value not in {event.value for phase in phases[:-2] for event in phase}:
        return None
    ends = [phase[-1] for phase in phases[:-1]]
    looked = [each for event in claims for each in ([event, *_look(event.t)] if event in ends else [event])]
    for phase, look in zip(phases, subject.play([*looked, *_look(events[-1].t)]), strict=True):
        value, returned = phase[0].value, phase is phases[-1]
        if _due(claims, phase[-1], returned=returned) and not leads(look, value):
            what = f"though {value} was said last"
            scores = " and ".join(f"{each} {number(look.score(each))}" for each in sorted({value, *look.scores}))
            return f"on day {phase[-1].t:g} the scores are {scores}, {what}"
    return None


def _look(t: float) -> list[Event]:
    return [Event(t, "tick"), Event(t, "peek")]


def _due(claims: Sequence[Event], end: Event, *, returned: bool) -> bool:
    """Return whether the claimed value must lead: more writers hold it last than any other; at its return, as many."""
    words = {event.writer: event.value for event in claims[: claims.index(end) + 1]}
    own = sum(value == end.value for value in words.values())
    most = max((list(words.values()).count(value) for value in words.values() if value != end.value), default=0)
    return own >= most if returned else own > most
