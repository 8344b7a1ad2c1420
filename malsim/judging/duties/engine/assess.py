"""Put a memory to the suite: from a notebook, and as a parametrised test in a repository of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from malsim.adapters.checked_memory import LIMIT
from malsim.base.errors import UsageError
from malsim.judging.duties.engine.assessment import ERROR, FAILS, Conformance, assess_all, judge, memory_of
from malsim.judging.duties.engine.duty import every_duty, find_duty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def assess(memory: object, *, cell: str | None = None, seed: int = 0, limit: float = LIMIT) -> Conformance:
    """Ask a memory for every duty, or for one.

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
    """A test of a memory, one case a cell: `test_duties = check(MyMemory, expected_failures={"F6"})`.

    A cell that fails does so with its witness, one that is expected to fail when it does not; what is not offered or
    vacuous is skipped. Raises `UsageError` where pytest is not installed.
    """
    try:
        import pytest
    except ImportError as error:
        hint = "pip install pytest, or ask malsim.judging.duties.assess"
        raise UsageError("such a test runs in pytest", where="check", hint=hint) from error
    names = {find_duty(name).name for name in expected_failures}

    @pytest.mark.parametrize("cell", list(every_duty()))
    def test_duties(cell: str) -> None:
        one = judge(memory_of(memory, limit=limit), find_duty(cell), seed=seed)
        if one.verdict == ERROR:
            pytest.fail(f"{cell}: {one.why}", pytrace=False)
        if one.verdict == FAILS and cell not in names:
            pytest.fail(f"{cell} fails ({find_duty(cell).sentence})\n{one.why}\n{one.witness}", pytrace=False)
        if one.verdict != FAILS and cell in names:
            pytest.fail(f"{cell}: {one.verdict} now: take it off expected_failures", pytrace=False)
        if one.why:
            pytest.skip(f"{one.verdict}: {one.why}")

    return test_duties
