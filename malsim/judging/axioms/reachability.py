"""What is kept is found by a default query, what leads too; what was never contradicted is not hidden."""

from collections.abc import Sequence

from malsim.judging.axioms.engine.compare import always, is_stream, last, leads, number
from malsim.judging.axioms.engine.events import Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = always
WEEKS = 30


def stream(pick: Pick, subject: Subject) -> list[Event]:
    former = [Event(0.0, "write", value="B")] if pick.by_turns((False, True)) else []
    claims = [*former, Event(2.0, "write", value="A"), Event(2.0 + pick.time(0.1, 1.0), "write", value="A")]
    sweeps = [Event(3.0 + 7.0 * (week + 1), "tick") for week in range(pick.count(1, WEEKS))]
    return [*claims, *sweeps, Event(sweeps[-1].t, "read"), Event(sweeps[-1].t, "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    if not is_stream(events, "write", "read") or events[-2].do != "read":
        return None
    look = last(subject, events)
    if any(event.value == "B" for event in events):
        missing = leads(look, "A") and look.answer is not None and not any(item["value"] == "A" for item in look.answer)
        return f"A leads with {number(look.score('A'))}, and a read does not find it" if missing else None
    if look.items and all(item["rank"] == 0.0 for item in look.items):
        return "A is kept, and its rank of 0 hides it"
    if look.items and look.answer is not None and not any(item["value"] == "A" for item in look.answer):
        return "A is kept, and a read does not find it"
    return None
