"""Facts that nobody else speaks about buy no belief: who led without a liar's own facts leads with them."""

from collections.abc import Sequence

from malsim.judging.axioms.engine.compare import always, is_stream, last, number, without
from malsim.judging.axioms.engine.events import Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = always
HONEST, LIARS = ("ann", "bob", "cid"), ("zoe", "dan")
MOST, ERRS, OWN = 30, 0.2, "own"


def stream(pick: Pick, subject: Subject) -> list[Event]:
    """Draw honest writers who err at times, and liars who contradict and flood them; all of them speak about x."""
    liars = LIARS[: pick.count(1, 2)]
    facts = [f"fact {number}" for number in range(pick.count(3, 8))]
    claims = [
        Event(0.0, "write", about, "AB"[(writer in LIARS) != (pick.share() < ERRS)], writer)
        for about in facts
        for writer in (*HONEST, *liars)
    ]
    flood = pick.count(MOST // 3, MOST)
    own = [
        Event(1.0, "write", f"{OWN} {writer} {number}", pick.one("AB"), writer)
        for writer in liars
        for number in range(flood)
    ]
    about = [Event(2.0, "write", "x", "B" if writer in LIARS else "A", writer) for writer in (*HONEST, *liars)]
    return [*claims, *own, *about, Event(3.0, "tick"), Event(3.0, "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    own = [event for event in events if event.object.startswith(OWN)]
    if not is_stream(events, "write", "tick") or not own or any(_others(event, events) for event in own):
        return None
    before = last(subject, without(events, *own), together=True)
    after = last(subject, events, together=True)
    if before.score("A") > before.score("B") + subject.tolerance and after.score("B") > after.score("A") + subject.tolerance:
        return (
            f"{len(own)} facts that nobody else speaks about take A from {number(before.score('A'))} to "
            f"{number(after.score('A'))}, and B to {number(after.score('B'))}"
        )
    return None


def _others(own: Event, events: Sequence[Event]) -> bool:
    return any(event.object == own.object and event is not own for event in events)
