"""What writers said long before, and replaced since, turns no lead: news counts in an old memory as in a new one."""

from collections.abc import Sequence

from malsim.judging.axioms.engine.compare import always, is_stream, last, leads, number
from malsim.judging.axioms.engine.events import HOUR, Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = always
FORMER = "CDE"


def stream(pick: Pick, subject: Subject) -> list[Event]:
    """Draw other values, once or in many changes, by the writers who now claim A and, later, B."""
    rounds, gap = pick.by_turns(((1, 400.0), (12, 3.0), (3, 100.0), (1, 200.0)))
    writers = ("ann", "bob", "cid")[: pick.by_turns((2, 2, 3))]
    former = [
        Event(round(gap * turn + 0.01 * place, 2), "write", value=FORMER[turn % len(FORMER)], writer=writer)
        for turn in range(rounds)
        for place, writer in enumerate(writers)
    ]
    t = gap * rounds
    now = [Event(t, "write", value="A", writer="ann")]
    for writer in writers[1:]:
        t = round(t + pick.time(HOUR, 40.0), 3)
        now.append(Event(t, "write", value="B", writer=writer))
    return [*former, *now, Event(t + 0.1, "tick"), Event(t + 0.1, "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    former = [event for event in events if event.do == "write" and event.value in FORMER]
    now = [event for event in events if event not in former]
    words = {event.writer: event.t for event in now if event.do == "write"}
    if not is_stream(now, "write") or any(event.t >= words.get(event.writer, -1.0) for event in former):
        return None
    plain, look = last(subject, now), last(subject, events)
    if not leads(plain, "B") or leads(look, "B"):
        return None
    scores = " and ".join(f"{value} {number(score)}" for value, score in sorted(look.scores.items()))
    return f"B leads with {number(plain.score('B'))}; after {len(former)} former claims the scores are {scores or 'none'}"
