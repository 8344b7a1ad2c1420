"""A claim stated with more confidence is not worth less."""

from collections.abc import Sequence
from dataclasses import replace

from malsim.judging.axioms.engine.compare import always, is_stream, last, number
from malsim.judging.axioms.engine.events import MINUTE, Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = always
LEAST, MOST = 0.05, 0.99


def stream(pick: Pick, subject: Subject) -> list[Event]:
    """Draw A, stated doubtfully or not believed at all, alone or beside a rival."""
    stated = round(LEAST + 0.9 * pick.share() * (MOST - LEAST), 2)
    claim = Event(0.0, "write", value="A", stated=pick.one((stated, stated, 0.0)))
    t = pick.time(0.1, 30.0)
    rival = Event(t, "write", value="B", writer="bob")
    end = t + pick.time(MINUTE, 30.0)
    return [claim, *([rival] if pick.by_turns((False, True)) else []), Event(end, "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    claims = [event for event in events if event.value == "A"]
    if not is_stream(events, "write") or len(claims) != 1:
        return None
    doubtful, look = claims[0].stated, last(subject, events)
    for surer in (round((doubtful + MOST) / 2.0, 2), MOST, 1.0):
        sure = last(subject, [replace(event, stated=surer) if event is claims[0] else event for event in events])
        if surer > doubtful and sure.score("A") < look.score("A") - subject.tolerance:
            return f"A, stated at {doubtful:g}, is {number(look.score('A'))}; stated at {surer:g}, {number(sure.score('A'))}"
    return None
