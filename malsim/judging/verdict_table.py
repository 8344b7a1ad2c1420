"""Verdicts of memories on axioms and on duties, in one table: what holds, what fails, and what could not be asked."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

HOLDS, BROKEN, N_A, ERROR = "holds", "broken", "does not apply", "error"
FAILS, VACUOUS, NOT_OFFERED, RECORDED = "fails", "vacuous", "not offered", "recorded"
UNASKED = (NOT_OFFERED, N_A, RECORDED)


@dataclass(frozen=True)
class QuestionVerdict:
    """Verdict on one memory in one question, an axiom or a duty.

    `why` is a sentence: how it is broken, why it does not apply, what went wrong; empty where it holds. `calls` is the
    smallest stream found that breaks it, as a table, and `replay` Python that shows it again.
    """

    memory: str
    name: str
    kind: str
    sentence: str
    verdict: str
    why: str = ""
    calls: str = ""
    replay: str = ""


V = TypeVar("V", bound=QuestionVerdict)


@dataclass(frozen=True, repr=False)
class VerdictTable(Generic[V]):
    """Verdicts, memory by memory and question by question."""

    FAILING: ClassVar[str] = FAILS
    KINDS: ClassVar[tuple[str, ...]] = ()
    verdicts: tuple[V, ...]

    @property
    def memories(self) -> list[str]:
        """Memories, in order."""
        return list(dict.fromkeys(each.memory for each in self.verdicts))

    @property
    def names(self) -> list[str]:
        """Questions, in order."""
        return list(dict.fromkeys(each.name for each in self.verdicts))

    @property
    def errors(self) -> tuple[V, ...]:
        """Verdicts that could not be decided."""
        return self.having(ERROR)

    @property
    def notes(self) -> list[str]:
        """Sentences to print beside the table."""
        return []

    def of(self, memory: str, verdict: str | None = None) -> list[str]:
        """Return the names of the questions on which a memory has a verdict; by default those that it fails."""
        return [each.name for each in self.verdicts if (each.memory, each.verdict) == (memory, verdict or self.FAILING)]

    def having(self, verdict: str) -> tuple[V, ...]:
        """Return all verdicts of one kind."""
        return tuple(each for each in self.verdicts if each.verdict == verdict)

    def at(self, memory: str, name: str) -> V:
        """Return the verdict on one memory in one question."""
        return next(each for each in self.verdicts if (each.memory, each.name) == (memory, name))

    def counts(self, memory: str) -> str:
        """Return how many questions of each kind a memory keeps, of those that apply to it, and how many do not."""
        own = [each for each in self.verdicts if each.memory == memory]
        numbers = Counter((each.kind, each.verdict) for each in own)
        parts = []
        for kind in self.KINDS:
            applicable = sum(count for (each, verdict), count in numbers.items() if each == kind and verdict not in UNASKED)
            parts.append(f"{kind}s kept {numbers[kind, HOLDS]}/{applicable}")
        others = Counter(each.verdict for each in own)
        words = {N_A: "not applicable"}
        counted = [verdict for verdict in (VACUOUS, *UNASKED, ERROR) if others[verdict]]
        return ", ".join([*parts, *(f"{others[verdict]} {words.get(verdict, verdict)}" for verdict in counted)])
