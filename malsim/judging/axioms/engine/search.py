"""Search for a stream that breaks an axiom, and its shrinking: fewer events, rounder and shorter times."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from malsim.base.errors import MalsimError
from malsim.judging.axioms.engine.axiom import AxiomVerdict
from malsim.judging.axioms.engine.events import event_table
from malsim.judging.shrink import simpler_streams, smallest
from malsim.judging.verdict_table import BROKEN, ERROR, HOLDS, N_A

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.judging.axioms.engine.axiom import Axiom
    from malsim.judging.axioms.engine.events import Event
    from malsim.judging.axioms.engine.subject import Subject


def judge(subject: Subject, axiom: Axiom, *, seed: int = 0) -> AxiomVerdict:
    """Judge one memory under one axiom: draw streams, and shrink the first that breaks it."""
    verdict = partial(AxiomVerdict, subject.name, axiom.name, "axiom", axiom.sentence)
    reason = axiom.needs(subject)
    if reason:
        return verdict(N_A, reason)
    within = subject.tolerance
    try:
        for _, events in _streams(subject, axiom, seed=seed, most=subject.cases):
            if axiom.broken(subject, events):
                least = smallest(events, simpler_streams, partial(axiom.broken, subject))
                why = axiom.broken(subject, least) or ""
                return verdict(BROKEN, why, event_table(least), witness=tuple(least), tolerance=within)
    except MalsimError as problem:
        return verdict(ERROR, str(problem), tolerance=within)
    return verdict(HOLDS, tolerance=within)


def breaks_at(subject: Subject, axiom: Axiom, *, seed: int, most: int) -> int | None:
    """Return the number, from 1, of the first stream that breaks an axiom; None if none of `most` does.

    Raises what playing a stream raises.
    """
    streams = _streams(subject, axiom, seed=seed, most=most)
    return next((number for number, events in streams if axiom.broken(subject, events)), None)


def _streams(subject: Subject, axiom: Axiom, *, seed: int, most: int) -> Iterator[tuple[int, list[Event]]]:
    earlier = set()
    for case in range(most):
        events = axiom.stream(subject.pick(seed, axiom.name, case), subject)
        if tuple(events) not in earlier:
            earlier.add(tuple(events))
            yield case + 1, events
