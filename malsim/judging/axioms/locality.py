"""Claims by new writers about new things, however many or late, and reads of those, move nothing about another."""

from collections.abc import Sequence
from dataclasses import replace

from malsim.judging.axioms.engine.compare import always, differs, is_stream, last, without
from malsim.judging.axioms.engine.events import MINUTE, UNSTATED, YEARS, Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = always
PRIOR = 0.02  # by how much a prior that a sweep learns from everybody may move a score


def stream(pick: Pick, subject: Subject) -> list[Event]:
    """Draw claims of strangers about other things, before or after the claims about x, which may be old and arrive late."""
    claims = pick.by_turns(
        (
            pick.claims(pick.count(1, 3)),
            pick.claims(2),
            [replace(event, stated=UNSTATED) for event in pick.story() if _about_x(event)] or pick.claims(1),
        )
    )
    order = pick.by_turns(("after", "late", "before", "after", "before"))
    t = claims[-1].t + pick.time(MINUTE, 30.0 if order == "late" else YEARS)
    new = [
        Event(t, "write", "y" if not place else f"thing {place}", pick.one("ABC"), "zoe" if not place else f"w{place % 9}")
        for place in range(pick.by_turns((1, 130, 2, 12)))
    ]
    new += [Event(t, "read", new[0].object)] * pick.one((0, 3))
    end = t + pick.time(MINUTE, 30.0)
    if order == "after":
        return [*claims, *new, Event(end, "peek")]
    if order == "late":
        return [Event(t, "peek"), *new, *claims, Event(end, "peek")]
    return [*(event.moved(lambda _: 0.0) for event in new), *claims, Event(end, "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    new = [event for event in events if event.object != "x"]
    own = {event.writer for event in events if event.do == "write" and event.object == "x"}
    if not is_stream(events, "write") or not new or not own or own & {event.writer for event in new if event.do == "write"}:
        return None
    plain = last(subject, without(events, *new))
    if any(event.do == "tick" for event in events):
        plain = replace(plain, tolerance=max(PRIOR, plain.tolerance))
    return differs(plain, last(subject, events), f"where strangers speak of {len({one.object for one in new})} other things")


def _about_x(event: Event) -> bool:
    return event.object == "x" and event.writer != "zoe"
