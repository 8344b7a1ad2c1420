"""Verdicts of memories under axioms, for a notebook and as a parametrised test."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from malsim.adapters.checked_memory import LIMIT
from malsim.base.errors import MalsimError, UsageError
from malsim.judging.axioms.engine.axiom import AxiomVerdict, find_axiom, shipped_axioms
from malsim.judging.axioms.engine.search import judge
from malsim.judging.axioms.engine.subject import TOLERANCE, measured, tolerance_text
from malsim.judging.axioms.engine.subjects import subject_of
from malsim.judging.verdict_table import BROKEN, VerdictTable, case_for_each

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from malsim.judging.axioms.engine.axiom import Axiom
    from malsim.judging.axioms.engine.subject import Subject


@dataclass(frozen=True, repr=False)
class Matrix(VerdictTable[AxiomVerdict]):
    """Verdicts, law by law and axiom by axiom; `frame` has law, axiom, verdict, witness (null where it holds)."""

    FAILING = BROKEN
    KINDS = ("axiom",)

    @property
    def frame(self) -> pl.DataFrame:
        rows = [(item.law, item.axiom, item.verdict, witness(item) or None) for item in self.verdicts]
        return pl.DataFrame(rows, schema=dict.fromkeys(("law", "axiom", "verdict", "witness"), pl.String), orient="row")

    @property
    def broken(self) -> tuple[AxiomVerdict, ...]:
        return self.having(BROKEN)

    @property
    def notes(self) -> list[str]:
        """Sentence for each memory whose peeks at one state differ."""
        within = {item.law: item.tolerance for item in self.verdicts if item.tolerance > TOLERANCE}
        return [tolerance_text(law, apart) for law, apart in within.items()]

    def __repr__(self) -> str:
        if len(self.memories) == 1:
            return "\n".join(
                f"{item.axiom:<22} {item.verdict}{': ' + item.why if item.why else ''}" for item in self.verdicts
            )
        return "\n".join(f"{law:<26} breaks {', '.join(self.of(law)) or 'none'}" for law in self.memories)


def witness(verdict: AxiomVerdict) -> str:
    """Return what was found, as a sentence and a table of events."""
    return f"{verdict.why}\n{verdict.calls}" if verdict.witness else verdict.why


def looked_at(subject: Subject) -> Subject:
    """Return a memory with its measured tolerance; return it unchanged if it cannot be peeked: its verdicts say why."""
    try:
        return measured(subject)
    except MalsimError:
        return subject


def matrix(
    subjects: Sequence[Subject], axioms: Iterable[Axiom] | None = None, *, seed: int = 0,
    watch: Callable[[Sequence[Subject]], Iterable[Subject]] = iter,
) -> Matrix:  # fmt: skip
    """Judge all memories under all axioms; an error in one pair does not affect the others."""
    rows = list(axioms) if axioms is not None else list(shipped_axioms().values())
    return Matrix(
        tuple(
            judge(item, axiom, seed=seed) for subject in watch(subjects) for item in (looked_at(subject),) for axiom in rows
        )
    )


def axioms(
    law: object, *, axiom: str | None = None, seed: int = 0, limit: float = LIMIT, streams: int | None = None
) -> Matrix:
    """Judge a memory under all axioms, or under one.

    Parameters
    ----------
    law
        A law's name, `package.module:factory`, `Rules` of the graph's law, or what makes a memory of your own: anything with
        write, tick, read and peek (`malsim.adapters.contract`).
    axiom
        The name of one axiom, `truth-may-return`; all if None.
    seed
        Of the search; the same seed finds the same witness.
    limit
        Seconds that a call of a memory of your own may take.
    streams
        How many streams an axiom tries; 20 if None, of the graph 4.

    >>> axioms("mem0_delete", axiom="total-evidence").of("mem0_delete")
    ['total-evidence']
    """
    subject = subject_of(law, limit=limit)
    if streams is not None:
        if streams < 1:
            raise UsageError("not a valid number of streams", where="axioms: streams", given=streams, allowed="1 or more")
        subject = replace(subject, cases=streams)
    return matrix([subject], [find_axiom(axiom)] if axiom else None, seed=seed)


def check(law: object, *, expected_broken: Iterable[str] = (), seed: int = 0, limit: float = LIMIT) -> Callable[[str], None]:
    """Return a test of a memory, one case per axiom: `test_axioms = check(MyMemory, expected_broken={"truth-may-return"})`.

    An axiom that breaks fails its case with the witness; one that is expected to break fails when it does not. Raises
    `UsageError` where pytest is not installed.
    """
    names = {find_axiom(name).name for name in expected_broken}
    return case_for_each(
        shipped_axioms(),
        lambda axiom: judge(looked_at(subject_of(law, limit=limit)), find_axiom(axiom), seed=seed),
        expected=names,
        option="expected_broken",
    )
