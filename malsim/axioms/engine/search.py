"""Look for a stream that breaks an axiom, then make it small: fewer events, rounder and shorter times."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from malsim.axioms.engine.axiom import BROKEN, ERROR, HOLDS, N_A, AxiomVerdict
from malsim.base.errors import MalsimError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.axioms.engine.axiom import Axiom
    from malsim.axioms.engine.events import Event
    from malsim.axioms.engine.subject import Subject

__all__ = ["judge"]

ROUNDS = 40
DIGITS = (0, 1, 2)


def judge(subject: Subject, axiom: Axiom, *, seed: int = 0) -> AxiomVerdict:
    """The verdict on one memory under one axiom: streams drawn at addresses, the first that breaks it made small."""
    reason = axiom.module.needs(subject)
    if reason:
        return AxiomVerdict(subject.name, axiom.name, N_A, reason)
    try:
        streams = (axiom.module.stream(subject.pick(seed, axiom.name, case), subject) for case in range(subject.cases))
        for events in map(list, dict.fromkeys(map(tuple, streams))):  # none is tried twice
            if axiom.module.broken(subject, events):
                least = _small(subject, axiom, events)
                why = axiom.module.broken(subject, least) or ""
                return AxiomVerdict(subject.name, axiom.name, BROKEN, why, tuple(least), subject.code)
    except MalsimError as problem:
        return AxiomVerdict(subject.name, axiom.name, ERROR, str(problem))
    return AxiomVerdict(subject.name, axiom.name, HOLDS)


def _small(subject: Subject, axiom: Axiom, events: list[Event]) -> list[Event]:
    """The smallest stream found that still breaks the axiom: the first change that does is kept, until none does."""
    for _ in range(ROUNDS):
        better = next((each for each in _simpler(events) if axiom.module.broken(subject, each)), None)
        if better is None:
            return events
        events = better
    return events


def _simpler(events: list[Event]) -> Iterator[list[Event]]:
    """Streams a little simpler: half of the events left out, one left out, times rounded, times halved."""
    if len(events) > 4:  # noqa: PLR2004  # of few events one is left out at a time
        middle = len(events) // 2
        yield events[:1] + events[middle:]
        yield events[:middle] + events[-1:]
    for place in range(len(events)):
        yield events[:place] + events[place + 1 :]
    for digits in DIGITS:
        coarse = [replace(event, t=round(event.t, digits)) for event in events]
        if coarse != events:
            yield coarse
    if events and max(event.t for event in events) > 1.0:
        yield [replace(event, t=float(f"{event.t / 2:.3g}")) for event in events]
