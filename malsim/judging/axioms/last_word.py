"""A writer's last word stands for it: what it said before, however often, does not lead."""

from collections.abc import Sequence

from malsim.judging.axioms.engine.compare import always, in_order, is_stream, last, leads, number
from malsim.judging.axioms.engine.events import HOUR, MINUTE, Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = always


def stream(pick: Pick, subject: Subject) -> list[Event]:
    events, t = list[Event](), 0.0
    hours = pick.by_turns((False, False, True))
    for value in pick.by_turns(("AB", "AAAB", "ACB", "AAAAAAAAAAAAB", "ABCDEB")):
        t += pick.time(HOUR, 0.3) if hours else pick.time(1.0, 30.0)
        events.append(Event(round(t, 3), "write", value=value))
    end = events[-1].t + pick.time(MINUTE, 0.5)
    return [*events, Event(end, "tick"), Event(end, "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    claims = [event for event in events if event.do == "write"]
    if not is_stream(events, "write") or not in_order(claims) or len({event.value for event in claims}) < 2:  # noqa: PLR2004
        return None
    if len({event.writer for event in claims}) > 1 or claims[-1].t - claims[-2].t < HOUR / 2.0:
        return None
    look, value = last(subject, events), claims[-1].value
    if leads(look, value):
        return None
    rivals = ", ".join(f"{each} {number(score)}" for each, score in sorted(look.scores.items()) if each != value)
    return f"{value} is {number(look.score(value))} though its writer said it last, and {rivals or 'nothing else is there'}"
