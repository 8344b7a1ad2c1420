"""Comparisons between two runs of a stream."""

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
    """Return whether a stream ends with a peek and contains at least one event of each given kind."""
    return bool(events) and events[-1].do == "peek" and {event.do for event in events} >= {*does}


def in_order(events: Sequence[Event]) -> bool:
    return all(earlier.t < later.t for earlier, later in pairwise(events))


def leads(look: PeekResult, value: str) -> bool:
    """Return whether a value scores above all others by more than rounding error. A tie is not a lead."""
    score, rival = look.score(value), max((item for name, item in look.scores.items() if name != value), default=-math.inf)
    noise = look.tolerance if look.tolerance > TOLERANCE else 0.0
    return score > rival + noise and not math.isclose(score, rival, rel_tol=TOLERANCE, abs_tol=0.0)


def overtaken(plain: PeekResult, look: PeekResult, change: str, *, ties: str = "") -> str | None:
    """Describe the first value that leads in `plain` but trails a rival in `look`. Return None if there is no such value.

    A value in `ties` counts as leading in `plain` if it ties for the lead.
    """
    for value in sorted(plain.scores):
        tied = value in ties and plain.score(value) >= max(plain.scores.values()) - plain.tolerance
        for rival, score in sorted(look.scores.items()) if tied or leads(plain, value) else ():
            if score > look.score(value) + look.tolerance:
                before, after = number(plain.score(value)), number(look.score(value))
                return f"{value} is {before} and leads; once {change}, it is {after} and {rival} is {number(score)}"
    return None


def last(subject: Subject, events: Sequence[Event], *, together: bool = False) -> PeekResult:
    return subject.play(events, together=together)[-1]


def without(events: Sequence[Event], *omit: Event) -> list[Event]:
    """Return `events` without the events in `omit`, which are compared by identity."""
    return [event for event in events if not any(event is item for item in omit)]


def keeps_clock(events: Sequence[Event], rest: Sequence[Event]) -> bool:
    """Return whether each event in `rest` is played on the same day with and without the other `events`."""
    whole, alone = (
        dict(zip(map(id, part), accumulate((event.t for event in part), max), strict=True)) for part in (events, rest)
    )
    return all(whole[event] == alone[event] for event in alone)


def number(score: float) -> str:
    return "gone" if score == float("-inf") else f"{score:.6g}"


def differs(plain: PeekResult, look: PeekResult, change: str) -> str | None:
    """Describe the first value whose score differs after a change. Return None if no score differs."""
    for value in sorted(plain.scores.keys() | look.scores.keys()):
        before, after = plain.score(value), look.score(value)
        if before != after and not abs(before - after) <= max(plain.tolerance, look.tolerance):
            return f"{value} is {number(before)}, and {number(after)} {change}"
    return None
