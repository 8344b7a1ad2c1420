"""Axiom tests of a memory: in a notebook, and as a parametrised test in a user's repository."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from malsim.adapters.checked_memory import LIMIT
from malsim.base.errors import UsageError
from malsim.judging.axioms.engine.axiom import find_axiom, shipped_axioms
from malsim.judging.axioms.engine.matrix import Matrix, looked_at, matrix
from malsim.judging.axioms.engine.search import judge
from malsim.judging.axioms.engine.subjects import subject_of
from malsim.judging.pytest_case import case_for_each

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


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
            raise UsageError("no number of streams", where="axioms: streams", given=streams, allowed="1 or more")
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
