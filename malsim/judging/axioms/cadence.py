"""The same stream with another sweep period gives the same numbers right after a sweep that both make."""

from collections.abc import Sequence

from malsim.judging.axioms.engine.compare import always, differs, is_stream, keeps_clock, last, without
from malsim.judging.axioms.engine.events import Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = always


def stream(pick: Pick, subject: Subject) -> list[Event]:
    claims = [
        Event(0.1 * place, "write", value=pick.one("AB"), writer=pick.one(("ann", "bob")))
        for place in range(pick.count(1, 3))
    ]
    if pick.by_turns((False, False, True)):
        story = [event for event in pick.story() if event.do != "read"]  # what a read picks may hang on the sweep before it
        return [*story, Event(story[-1].t + 1.0, "tick"), Event(story[-1].t + 1.0, "peek")]
    period, count = pick.by_turns(((pick.time(0.05, 14.0), pick.count(2, 8)), (10.0, 12), (0.15, 5), (1.0, 40)))
    sweeps = [Event(round(0.3 + period * (place + 1), 3), "tick") for place in range(count)]
    return [*claims, *sweeps, Event(sweeps[-1].t, "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    sweeps = [event for event in events if event.do == "tick"]
    if not is_stream(events, "write", "tick"):
        return None
    if len(sweeps) < 2 or sweeps[-1].t != events[-1].t or len({event.t for event in sweeps}) < len(sweeps):  # noqa: PLR2004
        return None
    if max(event.t for event in events) > events[-1].t or events[0].do != "write" or any(one.do == "read" for one in events):
        return None
    plain = without(events, *sweeps[:-1])
    if not keeps_clock(events, plain):
        return None
    return differs(last(subject, events), last(subject, plain), f"with the last of the {len(sweeps)} sweeps alone")
