"""An axiom as its file declares it, and the verdict on one memory."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Protocol, cast

from malsim.base.errors import LawError, UsageError, nearest
from malsim.judging.axioms.engine.events import event_table
from malsim.judging.axioms.engine.replay_code import replay_code

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.judging.axioms.engine.events import Event, Pick
    from malsim.judging.axioms.engine.subject import Subject

FOLDER = "malsim.judging.axioms"


class AxiomFile(Protocol):
    """A module of `malsim.judging.axioms`: its docstring's first line is the axiom; the rest names the exceptions."""

    __doc__: str | None

    def needs(self, subject: Subject) -> str | None:
        """Why the axiom does not apply to a memory; None where it does."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        """A small stream of events."""

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        """In a sentence with both numbers, how the stream breaks the axiom; None where it does not, or is no case."""


@dataclass(frozen=True)
class Axiom:
    """A registered axiom: its name, with hyphens, and its module."""

    name: str
    module: AxiomFile

    @property
    def sentence(self) -> str:
        """What it asks, in one sentence."""
        return (self.module.__doc__ or "").strip().split("\n", 1)[0]


@dataclass(frozen=True)
class AxiomVerdict:
    """holds, broken (with the smallest witness found), does not apply, or error: of one memory under one axiom.

    `why` is a sentence: how it is broken, why it does not apply, what went wrong. `code` is what `subject_of` makes the
    memory of, as Python; `tolerance` is within what scores counted as equal.
    """

    law: str
    axiom: str
    verdict: str
    why: str = ""
    witness: tuple[Event, ...] = ()
    code: str = ""
    tolerance: float = 0.0
    kind = "axiom"

    @property
    def memory(self) -> str:
        """The law's name."""
        return self.law

    @property
    def name(self) -> str:
        """The axiom's name."""
        return self.axiom

    @property
    def sentence(self) -> str:
        """What the axiom asks."""
        return find_axiom(self.axiom).sentence

    @property
    def calls(self) -> str:
        """The witness as a table."""
        return event_table(self.witness)

    @property
    def replay(self) -> str:
        """Python that shows the witness again."""
        return replay_code(self.axiom, self.code or repr(self.law), self.witness) if self.witness else ""


@cache
def shipped_axioms() -> dict[str, Axiom]:
    """Every axiom by its name; being in the folder is being registered."""
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
    """The axiom of a name; raises `UsageError` with the nearest names."""
    axioms = shipped_axioms()
    if name not in axioms:
        hint = nearest(name, axioms, f"one of {', '.join(axioms)}")
        raise UsageError("unknown axiom", where="axioms", given=name, hint=hint)
    return axioms[name]
