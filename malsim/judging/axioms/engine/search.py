"""Look for a stream that breaks an axiom, then make it small: fewer events, rounder and shorter times."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Protocol, Self, TypeVar

from malsim.base.errors import MalsimError
from malsim.judging.axioms.engine.axiom import BROKEN, ERROR, HOLDS, N_A, AxiomVerdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from malsim.judging.axioms.engine.axiom import Axiom
    from malsim.judging.axioms.engine.events import Event
    from malsim.judging.axioms.engine.subject import Subject

ROUNDS = 40
DIGITS = (0, 1, 2)


class _Timed(Protocol):
    """An event whose times can be changed."""

    @property
    def t(self) -> float:
        """The day."""

    def moved(self, change: Callable[[float], float]) -> Self:
        """The event at other times."""


Timed = TypeVar("Timed", bound=_Timed)


def judge(subject: Subject, axiom: Axiom, *, seed: int = 0) -> AxiomVerdict:
    """The verdict on one memory under one axiom: streams drawn at addresses, the first that breaks it made small."""
    reason = axiom.module.needs(subject)
    if reason:
        return AxiomVerdict(subject.name, axiom.name, N_A, reason)
    within = subject.tolerance
    try:
        for _, events in _streams(subject, axiom, seed=seed, most=subject.cases):
            if axiom.module.broken(subject, events):
                least = smallest(events, partial(axiom.module.broken, subject))
                why = axiom.module.broken(subject, least) or ""
                return AxiomVerdict(
                    subject.name,
                    axiom.name,
                    BROKEN,
                    why,
                    tuple(least),
                    subject.code,
                    within,
                )
    except MalsimError as problem:
        return AxiomVerdict(subject.name, axiom.name, ERROR, str(problem), tolerance=within)
    return AxiomVerdict(subject.name, axiom.name, HOLDS, tolerance=within)


def breaks_at(subject: Subject, axiom: Axiom, *, seed: int, most: int) -> int | None:
    """The number of the first stream, from 1, that breaks an axiom; None where none of so many does.

    Raises what playing a stream raises.
    """
    streams = _streams(subject, axiom, seed=seed, most=most)
    return next((number for number, events in streams if axiom.module.broken(subject, events)), None)


def _streams(subject: Subject, axiom: Axiom, *, seed: int, most: int) -> Iterator[tuple[int, list[Event]]]:
    """So many streams with their numbers, none twice."""
    earlier = set()
    for case in range(most):
        events = axiom.module.stream(subject.pick(seed, axiom.name, case), subject)
        if tuple(events) not in earlier:
            earlier.add(tuple(events))
            yield case + 1, events


def smallest(events: list[Timed], breaks: Callable[[list[Timed]], object], *, halve: bool = True) -> list[Timed]:
    """The smallest stream found that still breaks what it broke: the first change that does is kept, until none does."""
    for _ in range(ROUNDS):
        better = next((each for each in _simpler(events, halve=halve) if breaks(each)), None)
        if better is None:
            return events
        events = better
    return events


def _simpler(events: list[Timed], *, halve: bool) -> Iterator[list[Timed]]:
    """Streams a little simpler: half of the events left out, one left out, times rounded, times halved."""
    if len(events) > 4:  # noqa: PLR2004  # of few events one is left out at a time
        middle = len(events) // 2
        yield events[:1] + events[middle:]
        yield events[:middle] + events[-1:]
    for place in range(len(events)):
        yield events[:place] + events[place + 1 :]
    for digits in DIGITS:
        coarse = [event.moved(partial(round, ndigits=digits)) for event in events]
        if coarse != events:
            yield coarse
    if halve and events and max(event.t for event in events) > 1.0:
        yield [event.moved(lambda t: float(f"{t / 2:.3g}")) for event in events]
