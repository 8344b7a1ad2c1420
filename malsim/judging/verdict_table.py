"""Verdicts on axioms and duties, as a table and as a parametrised pytest test."""

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
    """Verdict on one memory for one question, which is an axiom or a duty.

    `why` describes the failure or error, or says why the question does not apply; empty if the memory passes. `calls`
    is the smallest failing stream found, as a table.
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
    """Verdicts per memory and question."""

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
        """Return the names of the memory's questions with the given verdict, by default the failed questions."""
        return [entry.name for entry in self.verdicts if (entry.memory, entry.verdict) == (memory, verdict or self.FAILING)]

    def having(self, verdict: str) -> tuple[V, ...]:
        return tuple(entry for entry in self.verdicts if entry.verdict == verdict)

    def at(self, memory: str, name: str) -> V:
        return next(entry for entry in self.verdicts if (entry.memory, entry.name) == (memory, name))

    def counts(self, memory: str) -> str:
        """Count held and applicable questions per kind, and other verdicts, as in `axioms kept 20/24, 1 error`."""
        entries = [entry for entry in self.verdicts if entry.memory == memory]
        parts = []
        for kind in self.KINDS:
            applicable = [entry.verdict for entry in entries if entry.kind == kind and entry.verdict not in UNASKED]
            parts.append(f"{kind}s kept {applicable.count(HOLDS)}/{len(applicable)}")
        others = Counter(entry.verdict for entry in entries)
        words = {N_A: "not applicable"}
        counted = [verdict for verdict in (VACUOUS, *UNASKED, ERROR) if others[verdict]]
        return ", ".join([*parts, *(f"{others[verdict]} {words.get(verdict, verdict)}" for verdict in counted)])


def case_for_each(
    names: Iterable[str], judge: Callable[[str], QuestionVerdict], *, expected: Collection[str], option: str
) -> Callable[[str], None]:
    """Return a pytest test with one case per name. `option` is the argument that lists expected failures.

    A case fails if its question fails (the witness is shown) or if an expected failure passes. A case is skipped if its
    question does not apply. Raises `UsageError` if pytest is not installed.
    """
    try:
        import pytest
    except ImportError as error:
        hint = "pip install pytest, or run `malsim judge`"
        raise UsageError("needs pytest, which is not installed", where="check", hint=hint) from error

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
            pytest.fail(f"{name} now has the verdict {verdict.verdict}: remove it from {option}", pytrace=False)
        if not fails and verdict.why:
            pytest.skip(f"{verdict.verdict}: {verdict.why}")

    return test_memory
