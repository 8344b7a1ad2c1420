"""The scores right after a read are those right before it: a read is not a verification."""

from collections.abc import Sequence

from malsim.judging.axioms.engine.compare import always, differs, is_stream, last, without
from malsim.judging.axioms.engine.events import Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = always


def stream(pick: Pick, subject: Subject) -> list[Event]:
    """Draw a claim, with or without a rival, and reads of its object or of another; or a story that ends in reads."""
    if pick.by_turns((False, True)):
        story = pick.story()
        reads = [Event(story[-1].t + 1.0, "read", pick.one("xxy")) for _ in range(pick.count(1, 3))]
        return [*story, *reads, Event(reads[0].t, "peek")]
    claims = [Event(0.0, "write", value="A"), Event(0.0, "write", "y", "B", "bob")][: pick.count(1, 2)]
    claims += [Event(0.05, "write", value="B", writer="bob")] if pick.count(0, 1) else []
    now = pick.time(0.1, 60.0)
    about = [pick.one("xy") if len(claims) > 1 and claims[1].object == "y" else "x" for _ in range(pick.count(1, 3))]
    return [*claims, *(Event(now, "read", each) for each in about), Event(now, "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    reads = [event for event in events if event.do == "read" and event.t == events[-1].t]
    if not is_stream(events, "write") or not reads or any(event.t > events[-1].t for event in events):
        return None
    return differs(last(subject, without(events, *reads)), last(subject, events), f"right after {len(reads)} read")
