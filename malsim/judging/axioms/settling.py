"""Bounded disputes settle."""

from collections.abc import Sequence

from malsim.adapters import Edge
from malsim.judging.axioms.engine.compare import differs, has_edges, is_stream
from malsim.judging.axioms.engine.events import Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = has_edges
SWEEPS = 100


def stream(pick: Pick, subject: Subject) -> list[Event]:
    stated = pick.one((0.3, 0.3, round(0.2 + 0.7 * pick.share(), 2)))
    rivals = [
        Event(0.1 * place, "write", value=value, writer=writer, stated=stated,
              edges=tuple(Edge("contradicts", f"x is {other}") for other in "ABC"[:place]))
        for place, (value, writer) in enumerate(zip("ABC", ("ann", "bob", "cid"), strict=True))
    ]  # fmt: skip
    return [*rivals[: pick.count(2, 3)], Event(SWEEPS, "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    if not is_stream(events, "write") or any(event.do not in ("write", "peek") for event in events):
        return None
    sweeps = [Event(float(day), "tick") for day in range(1, SWEEPS + 1)]
    ends = [Event(float(SWEEPS), "peek"), Event(SWEEPS + 1.0, "tick"), Event(SWEEPS + 1.0, "peek")]
    one, other = subject.play([*events[:-1], *sweeps, *ends])
    return differs(one, other, f"and a sweep later, after {SWEEPS},")
