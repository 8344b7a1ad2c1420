"""Duty tests of a memory: in a notebook, and as a parametrised test in a user's repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

from malsim.adapters.checked_memory import LIMIT
from malsim.judging.duties.engine.assessment import Conformance, assess_all, judge, memory_of
from malsim.judging.duties.engine.duty import every_duty, find_duty
from malsim.judging.pytest_case import case_for_each

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def assess(memory: object, *, cell: str | None = None, seed: int = 0, limit: float = LIMIT) -> Conformance:
    """Judge a memory in all cells, or in one.

    Parameters
    ----------
    memory
        A law's name, a reference's, `package.module:factory`, `Rules` of the graph's law, or what makes your own memory.
    cell
        The name of one cell, `change.C'`; all if None.
    seed
        Of the draws; the same seed finds the same witness.
    limit
        Seconds that a call of a memory of your own may take.

    >>> assess("append", cell="change.B").of("append")
    ['change.B']
    """
    return assess_all([memory_of(memory, limit=limit)], [find_duty(cell)] if cell else None, seed=seed)


def check(
    memory: object, *, expected_failures: Iterable[str] = (), seed: int = 0, limit: float = LIMIT
) -> Callable[[str], None]:
    """Return a test of a memory, one case per cell: `test_duties = check(MyMemory, expected_failures={"F6"})`.

    A cell that fails does so with its witness, one that is expected to fail when it does not; what is not offered or
    vacuous is skipped. Raises `UsageError` where pytest is not installed.
    """
    names = {find_duty(name).name for name in expected_failures}
    return case_for_each(
        every_duty(),
        lambda cell: judge(memory_of(memory, limit=limit), find_duty(cell), seed=seed),
        expected=names,
        option="expected_failures",
    )
