"""Search for streams that break axioms, the table of verdicts, and a parametrised test."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from malsim.adapters.checked_memory import LIMIT
from malsim.base.errors import MalsimError, UsageError
from malsim.judging.axioms.engine.axiom import AxiomVerdict, find_axiom, shipped_axioms
from malsim.judging.axioms.engine.events import event_table
from malsim.judging.axioms.engine.subject import TOLERANCE, measured, tolerance_text
from malsim.judging.axioms.engine.subjects import subject_of
from malsim.judging.shrink import simpler_streams, smallest
from malsim.judging.verdict_table import BROKEN, ERROR, HOLDS, N_A, VerdictTable, case_for_each

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from malsim.judging.axioms.engine.axiom import Axiom
    from malsim.judging.axioms.engine.events import Event
    from malsim.judging.axioms.engine.subject import Subject


@dataclass(frozen=True, repr=False)
class Matrix(VerdictTable[AxiomVerdict]):
    """Verdicts per law and axiom. `frame` has the columns law, axiom, verdict and witness (null where the axiom holds)."""

    FAILING = BROKEN
    KINDS = ("axiom",)

    @property
    def frame(self) -> pl.DataFrame:
        rows = [
            (item.memory, item.name, item.verdict, (f"{item.why}\n{item.calls}" if item.witness else item.why) or None)
            for item in self.verdicts
        ]
        return pl.DataFrame(rows, schema=dict.fromkeys(("law", "axiom", "verdict", "witness"), pl.String), orient="row")

    @property
    def broken(self) -> tuple[AxiomVerdict, ...]:
        return self.having(BROKEN)

    @property
    def notes(self) -> list[str]:
        """Sentences about memories whose repeated peeks at the same state differ."""
        within = {item.memory: item.tolerance for item in self.verdicts if item.tolerance > TOLERANCE}
        return [tolerance_text(law, tolerance) for law, tolerance in within.items()]

    def __repr__(self) -> str:
        if len(self.memories) == 1:
            return "\n".join(f"{item.name:<22} {item.verdict}{': ' * bool(item.why)}{item.why}" for item in self.verdicts)
        return "\n".join(f"{law:<26} breaks {', '.join(self.of(law)) or 'none'}" for law in self.memories)


def streams(subject: Subject, axiom: Axiom, *, seed: int, most: int) -> Iterator[tuple[int, list[Event]]]:
    """Yield the distinct streams among the first `most` that an axiom draws for a memory, numbered from 1."""
    earlier = set()
    for case in range(most):
        events = axiom.stream(subject.pick(seed, axiom.name, case), subject)
        if tuple(events) not in earlier:
            earlier.add(tuple(events))
            yield case + 1, events


def judge(subject: Subject, axiom: Axiom, *, seed: int = 0) -> AxiomVerdict:
    """Judge one memory under one axiom: draw streams, and shrink the first stream that breaks the axiom."""
    verdict = partial(AxiomVerdict, subject.name, axiom.name, "axiom", axiom.sentence)
    if reason := axiom.needs(subject):
        return verdict(N_A, reason)
    try:
        for _, events in streams(subject, axiom, seed=seed, most=subject.cases):
            if axiom.broken(subject, events):
                least = smallest(events, simpler_streams, partial(axiom.broken, subject))
                why = axiom.broken(subject, least) or ""
                return verdict(BROKEN, why, event_table(least), witness=tuple(least), tolerance=subject.tolerance)
    except MalsimError as problem:
        return verdict(ERROR, str(problem), tolerance=subject.tolerance)
    return verdict(HOLDS, tolerance=subject.tolerance)


def _with_tolerance(subject: Subject) -> Subject:
    """Return the subject with its measured tolerance, or unchanged if a peek fails; the verdicts then report the error."""
    try:
        return measured(subject)
    except MalsimError:
        return subject


def matrix(
    subjects: Sequence[Subject], axioms: Iterable[Axiom] | None = None, *, seed: int = 0,
    watch: Callable[[Sequence[Subject]], Iterable[Subject]] = iter,
) -> Matrix:  # fmt: skip
    """Judge all memories under all axioms. An error for one memory and axiom does not affect the others."""
    rows = list(axioms) if axioms is not None else list(shipped_axioms().values())
    return Matrix(tuple(judge(item, axiom, seed=seed) for item in map(_with_tolerance, watch(subjects)) for axiom in rows))


def axioms(
    law: object, *, axiom: str | None = None, seed: int = 0, limit: float = LIMIT, streams: int | None = None
) -> Matrix:
    """Judge a memory under all axioms or under a single axiom.

    Parameters
    ----------
    law
        A law's name, `package.module:factory`, `Rules` of the graph's law, or a factory of memories with write, tick, read
        and peek (`malsim.adapters.contract`).
    axiom
        Name of one axiom, such as `truth-may-return`; all axioms if None.
    seed
        Seed of the search; the same seed finds the same witness.
    limit
        Maximum duration of a call to a memory of your own, in seconds.
    streams
        Number of streams to try per axiom. If None, 20, or 4 for the graph.

    >>> axioms("mem0_delete", axiom="total-evidence").of("mem0_delete")
    ['total-evidence']
    """
    subject = subject_of(law, limit=limit)
    if streams is not None:
        if streams < 1:
            raise UsageError("out of bounds", where="axioms: streams", given=streams, allowed="1 or more")
        subject = replace(subject, cases=streams)
    return matrix([subject], [find_axiom(axiom)] if axiom else None, seed=seed)


def check(law: object, *, expected_broken: Iterable[str] = (), seed: int = 0, limit: float = LIMIT) -> Callable[[str], None]:
    """Return a pytest test with one case per axiom: `test_axioms = check(MyMemory, expected_broken={"truth-may-return"})`.

    A broken axiom fails its case and shows the witness; an axiom in `expected_broken` fails its case if it holds.
    Raises `UsageError` if pytest is not installed.
    """
    names = {find_axiom(name).name for name in expected_broken}
    return case_for_each(
        shipped_axioms(),
        lambda axiom: judge(_with_tolerance(subject_of(law, limit=limit)), find_axiom(axiom), seed=seed),
        expected=names,
        option="expected_broken",
    )
