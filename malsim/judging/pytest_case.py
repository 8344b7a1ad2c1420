"""Parametrised test of a memory, one case per question, for a user's repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

from malsim.base.errors import UsageError
from malsim.judging.verdict_table import BROKEN, ERROR, FAILS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from malsim.judging.verdict_table import QuestionVerdict


def case_for_each(
    names: Iterable[str], judge: Callable[[str], QuestionVerdict], *, expected: Collection[str], option: str
) -> Callable[[str], None]:
    """Return a pytest test with a case for each name; `option` is the argument that lists expected failures.

    A question that fails fails its case with the witness, an expected failure fails it when the question holds, and a
    question that does not apply skips it. Raises `UsageError` if pytest is not installed.
    """
    try:
        import pytest
    except ImportError as error:
        hint = "pip install pytest, or `malsim judge`"
        raise UsageError("such a test runs in pytest", where="check", hint=hint) from error

    @pytest.mark.parametrize("name", list(names))
    def test_memory(name: str) -> None:
        verdict = judge(name)
        fails = verdict.verdict in {BROKEN, FAILS}
        if verdict.verdict == ERROR:
            pytest.fail(f"{name}: {verdict.why}", pytrace=False)
        if fails and name not in expected:
            word = "is broken" if verdict.verdict == BROKEN else "fails"
            pytest.fail(f"{name} {word} ({verdict.sentence})\n{verdict.why}\n{verdict.calls}", pytrace=False)
        if not fails and name in expected:
            pytest.fail(f"{name}: {verdict.verdict} now: take it off {option}", pytrace=False)
        if not fails and verdict.why:
            pytest.skip(f"{verdict.verdict}: {verdict.why}")

    return test_memory
