"""Verdicts of memories on axioms and on duties: as one table, and as a parametrised pytest test."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from malsim.base.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

HOLDS, BROKEN, N_A, ERROR = "holds", "broken", "does not apply", "error"
FAILS, VACUOUS, NOT_OFFERED, RECORDED = "fails", "vacuous", "not offered", "recorded"
UNASKED = (NOT_OFFERED, N_A, RECORDED)


@dataclass(frozen=True)
class QuestionVerdict:
    """Verdict on one memory in one question, an axiom or a duty.

    `why` is a sentence: how it is broken, why it does not apply, what went wrong; empty where it holds. `calls` is the
    smallest stream found that breaks it, as a table.
    """

    memory: str
    name: str
    kind: str
    sentence: str
    verdict: str
    why: str = ""
    calls: str = ""


V = TypeVar("V", bound=QuestionVerdict)


@dataclass(frozen=True, repr=False)
class VerdictTable(Generic[V]):
    """Verdicts, memory by memory and question by question."""

    FAILING: ClassVar[str] = FAILS
    KINDS: ClassVar[tuple[str, ...]] = ()
    verdicts: tuple[V, ...]

    @property
    def memories(self) -> list[str]:
        return list(dict.fromkeys(entry.memory for entry in self.verdicts))

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(entry.name for entry in self.verdicts))

    @property
    def errors(self) -> tuple[V, ...]:
        return self.having(ERROR)

    @property
    def notes(self) -> list[str]:
        """Sentences to print below the table."""
        return []

    def of(self, memory: str, verdict: str | None = None) -> list[str]:
        """Return the names of the questions on which a memory has a verdict; by default those that it fails."""
        return [entry.name for entry in self.verdicts if (entry.memory, entry.verdict) == (memory, verdict or self.FAILING)]

    def having(self, verdict: str) -> tuple[V, ...]:
        return tuple(entry for entry in self.verdicts if entry.verdict == verdict)

    def at(self, memory: str, name: str) -> V:
        return next(entry for entry in self.verdicts if (entry.memory, entry.name) == (memory, name))

    def counts(self, memory: str) -> str:
        """Return how many questions of each kind a memory keeps, of those that apply to it, and how many do not."""
        entries = [entry for entry in self.verdicts if entry.memory == memory]
        numbers = Counter((entry.kind, entry.verdict) for entry in entries)
        parts = []
        for kind in self.KINDS:
            applicable = sum(
                count for (entry, verdict), count in numbers.items() if entry == kind and verdict not in UNASKED
            )
            parts.append(f"{kind}s kept {numbers[kind, HOLDS]}/{applicable}")
        others = Counter(entry.verdict for entry in entries)
        words = {N_A: "not applicable"}
        counted = [verdict for verdict in (VACUOUS, *UNASKED, ERROR) if others[verdict]]
        return ", ".join([*parts, *(f"{others[verdict]} {words.get(verdict, verdict)}" for verdict in counted)])


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
