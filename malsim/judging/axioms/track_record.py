"""Who agreed with most others does not lose, by that record, to who mostly did not, nor by what those said against it."""

from collections.abc import Sequence

from malsim.judging.axioms.engine.compare import always, is_stream, last, overtaken
from malsim.judging.axioms.engine.events import Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = always
HONEST, DISSENT = ("ann", "bob", "cid"), (("zoe", "B"), ("dan", "C"), ("eve", "D"), ("lou", "E"))


def stream(pick: Pick, subject: Subject) -> list[Event]:
    """Draw facts that three agree on; then ann against zoe, or a stranger, about x."""
    stranger = pick.by_turns((False, True))
    start, facts = (0, pick.count(4, 8)) if stranger else (pick.count(2, 4), pick.count(9, 13))
    liars = DISSENT[: pick.count(1, len(DISSENT)) if stranger else 1]
    claims = [
        Event(float(day), "write", f"fact {day}", value, writer)
        for day in range(facts)
        for writer, value in (*_honest(day, start), *((each, lie if day >= start else "A") for each, lie in liars))
    ]
    about = [
        Event(facts + 1.0, "write", value="A"),
        Event(facts + 1.0, "write", value="B", writer="new" if stranger else "zoe"),
    ]
    about = about[::-1] if pick.count(0, 1) else about
    return [*claims, *about, Event(facts + 2.0, "tick"), Event(facts + 2.0, "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    about = {event.writer: event.value for event in events if event.do == "write" and event.object == "x"}
    facts = [event for event in events if event.do == "write" and event.object != "x"]
    writers = {event.writer for event in facts}
    liars = {writer for writer in writers if _is_alone(facts, writer)}
    if not is_stream(events, "write", "tick") or about not in ({"ann": "A", "zoe": "B"}, {"ann": "A", "new": "B"}):
        return None
    if not liars or not {"zoe", *liars} <= {"zoe", *(name for name, _ in DISSENT)} or "new" in writers:
        return None
    if "zoe" in about and "zoe" not in liars:
        return None
    omitted = [event for event in facts if event.writer in liars or "zoe" in about]
    plain = [event for event in events if event not in omitted]
    before, after = last(subject, plain, together=True), last(subject, events, together=True)
    return overtaken(before, after, f"{len(omitted)} claims about other things were made", those="A")


def _honest(day: int, start: int) -> list[tuple[str, str]]:
    """Return (writer, value) pairs: all claim A, except that ann errs on the first day of a good start of zoe's."""
    return [(writer, "B" if writer == "ann" and day == 0 and start > 0 else "A") for writer in HONEST]


def _is_alone(facts: Sequence[Event], writer: str) -> bool:
    seconds = [
        sum(one.object == own.object and one.value == own.value for one in facts) > 2  # noqa: PLR2004  # itself, two others
        for own in facts
        if own.writer == writer
    ]
    return 2 * sum(seconds) < len(seconds)
