"""An axiom as its file declares it, and the verdict on one memory."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Protocol, cast

from malsim.base.errors import LawError, UsageError, nearest
from malsim.judging.verdict_table import QuestionVerdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.judging.axioms.engine.events import Event, Pick
    from malsim.judging.axioms.engine.subject import Subject

FOLDER = "malsim.judging.axioms"


class AxiomFile(Protocol):
    """A module of `malsim.judging.axioms`: its docstring's first line is the axiom; the rest names the exceptions."""

    __doc__: str | None

    def needs(self, subject: Subject) -> str | None:
        """Return the reason why the axiom does not apply to a memory, or None if it applies."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        """Draw a small stream of events."""

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        """Return a sentence with both numbers on how the stream breaks the axiom; None if it does not, or is not a case."""


@dataclass(frozen=True)
class Axiom:
    """A registered axiom: its name, with hyphens, and its module."""

    name: str
    module: AxiomFile

    @property
    def sentence(self) -> str:
        """Statement of the axiom in one sentence: the first line of its module."""
        return (self.module.__doc__ or "").strip().split("\n", 1)[0]


@dataclass(frozen=True)
class AxiomVerdict(QuestionVerdict):
    """The verdict on one memory under one axiom: `holds`, `broken`, `does not apply` or `error`.

    `witness` is the smallest stream found, `tolerance` the difference within which scores counted as equal.
    """

    witness: tuple[Event, ...] = ()
    tolerance: float = 0.0

    @property
    def law(self) -> str:
        """Memory's name."""
        return self.memory

    @property
    def axiom(self) -> str:
        """Axiom's name."""
        return self.name


@cache
def shipped_axioms() -> dict[str, Axiom]:
    """Return all axioms by name: each module of the folder is registered."""
    folder = importlib.import_module(FOLDER)
    registry = {}
    for part in pkgutil.iter_modules(folder.__path__):
        if not part.ispkg:
            module = cast("AxiomFile", importlib.import_module(f"{FOLDER}.{part.name}"))
            missing = [name for name in ("needs", "stream", "broken") if not hasattr(module, name)]
            if missing:
                raise LawError("an axiom without a function", where=part.name, given=", ".join(missing))
            name = part.name.replace("_", "-")
            registry[name] = Axiom(name, module)
    return registry


def find_axiom(name: str) -> Axiom:
    """Return the axiom of a name; raise `UsageError` with the nearest names if there is none."""
    axioms = shipped_axioms()
    if name not in axioms:
        hint = nearest(name, axioms, f"one of {', '.join(axioms)}")
        raise UsageError("unknown axiom", where="axioms", given=name, hint=hint)
    return axioms[name]
