"""Axiom base class, the verdict on one memory, and the list of shipped axioms."""

from __future__ import annotations

import importlib
import pkgutil
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from malsim.base.errors import UsageError, nearest
from malsim.judging.verdict_table import QuestionVerdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.judging.axioms.engine.events import Event, Pick
    from malsim.judging.axioms.engine.subject import Subject

FOLDER = "malsim.judging.axioms"


class Axiom(ABC):
    """Property that every sound memory must have. The first line of a subclass's docstring states the axiom.

    `requires` names what a memory must have for the axiom to apply: `belief`, `edges`, or nothing.
    """

    requires: ClassVar[str] = ""

    @property
    def name(self) -> str:
        """Class name in lower case with hyphens."""
        return re.sub(r"(?<!^)(?=[A-Z])", "-", type(self).__name__).lower()

    @property
    def sentence(self) -> str:
        """Statement of the axiom in one sentence."""
        return (self.__doc__ or "").strip().split("\n", 1)[0]

    def needs(self, subject: Subject) -> str | None:
        """Return the reason why the axiom does not apply to a memory, or None if it applies."""
        return f"it has no {self.requires}" if self.requires and not getattr(subject, self.requires) else None

    @abstractmethod
    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        """Draw a short stream of events."""

    @abstractmethod
    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        """Return a sentence with both scores if the stream breaks the axiom; None if it does not or cannot test it."""


@dataclass(frozen=True)
class AxiomVerdict(QuestionVerdict):
    """Verdict on one memory under one axiom: `holds`, `broken`, `does not apply` or `error`.

    `witness` is the smallest stream found that breaks the axiom. Scores that differ by at most `tolerance` are equal.
    """

    witness: tuple[Event, ...] = ()
    tolerance: float = 0.0


@cache
def shipped_axioms() -> dict[str, Axiom]:
    """Return all shipped axioms keyed by name."""
    folder = importlib.import_module(FOLDER)
    modules = [importlib.import_module(f"{FOLDER}.{part.name}") for part in pkgutil.iter_modules(folder.__path__)]
    every = [item() for item in Axiom.__subclasses__() if item.__module__ in {module.__name__ for module in modules}]
    return {axiom.name: axiom for axiom in sorted(every, key=lambda axiom: axiom.name)}


def find_axiom(name: str) -> Axiom:
    """Return the axiom with the given name. Raise `UsageError` with similar names if there is none."""
    axioms = shipped_axioms()
    if name not in axioms:
        hint = nearest(name, axioms, f"choose one of {', '.join(axioms)}")
        raise UsageError("no such axiom", where="axioms", given=name, hint=hint)
    return axioms[name]
