"""Helpers with which an axiom compares two runs of a stream."""

from __future__ import annotations

import math
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from malsim.judging.axioms.engine.subject import TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.judging.axioms.engine.events import Event
    from malsim.judging.axioms.engine.subject import PeekResult, Subject


def is_stream(events: Sequence[Event], *does: str) -> bool:
    """Return whether a stream ends with a peek and holds at least one event of each of the given kinds."""
    return bool(events) and events[-1].do == "peek" and all(any(event.do == item for event in events) for item in does)


def in_order(events: Sequence[Event]) -> bool:
    return all(item.t < other.t for item, other in pairwise(events))


def leads(look: PeekResult, value: str) -> bool:
    """Return whether a value scores above every other by more than rounding; a tie is not a lead."""
    own, most = look.score(value), max((item for other, item in look.scores.items() if other != value), default=-math.inf)
    noise = look.tolerance if look.tolerance > TOLERANCE else 0.0
    return own > most + noise and not math.isclose(own, most, rel_tol=TOLERANCE, abs_tol=0.0)


def overtaken(plain: PeekResult, look: PeekResult, what: str, *, those: Sequence[str] = ()) -> str | None:
    """Return a sentence on the first value that leads in `plain` and trails a rival in `look`; None if no value does."""
    for value in sorted(plain.scores):
        if not (
            leads(plain, value) or (value in those and plain.score(value) >= max(plain.scores.values()) - plain.tolerance)
        ):
            continue
        for rival, score in sorted(look.scores.items()):
            if score > look.score(value) + look.tolerance:
                before, after = number(plain.score(value)), number(look.score(value))
                return f"{value} is {before} and leads; once {what}, it is {after} and {rival} {number(score)}"
    return None


def last(subject: Subject, events: Sequence[Event], *, together: bool = False) -> PeekResult:
    return subject.play(events, together=together)[-1]


def without(events: Sequence[Event], *omit: Event) -> list[Event]:
    """Return the events without some of them, compared by identity."""
    return [event for event in events if not any(event is item for item in omit)]


def keeps_clock(events: Sequence[Event], rest: Sequence[Event]) -> bool:
    """Return whether the events of `rest` happen at the same times in `events` as alone, late arrivals included."""
    times, alone = (
        dict(zip(map(id, those), accumulate((item.t for item in those), max), strict=True)) for those in (events, rest)
    )
    return all(times[item] == alone[item] for item in alone)


def number(score: float) -> str:
    return "gone" if score == float("-inf") else f"{score:.6g}"


def differs(one: PeekResult, other: PeekResult, what: str) -> str | None:
    """Return a sentence, ending with `what`, on the first value whose scores differ; None if none differs."""
    for value in sorted(one.scores.keys() | other.scores.keys()):
        a, b = one.score(value), other.score(value)
        if a != b and not abs(a - b) <= max(one.tolerance, other.tolerance):
            return f"{value} is {number(a)}, {what} {number(b)}"
    return None
