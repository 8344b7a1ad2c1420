"""Verdicts of memories under axioms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from malsim.base.errors import MalsimError
from malsim.judging.axioms.engine.axiom import BROKEN, ERROR, AxiomVerdict, shipped_axioms
from malsim.judging.axioms.engine.events import event_table
from malsim.judging.axioms.engine.search import judge
from malsim.judging.axioms.engine.subject import TOLERANCE, measured, tolerance_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from malsim.judging.axioms.engine.axiom import Axiom
    from malsim.judging.axioms.engine.subject import Subject


@dataclass(frozen=True, repr=False)
class Matrix:
    """Verdicts, law by law and axiom by axiom; `frame` has law, axiom, verdict, witness (null where it holds)."""

    verdicts: tuple[AxiomVerdict, ...]

    @property
    def frame(self) -> pl.DataFrame:
        """One row a law and axiom."""
        rows = [(one.law, one.axiom, one.verdict, witness(one) or None) for one in self.verdicts]
        return pl.DataFrame(rows, schema=dict.fromkeys(("law", "axiom", "verdict", "witness"), pl.String), orient="row")

    @property
    def broken(self) -> tuple[AxiomVerdict, ...]:
        """Those that are broken."""
        return tuple(one for one in self.verdicts if one.verdict == BROKEN)

    @property
    def errors(self) -> tuple[AxiomVerdict, ...]:
        """Those that could not be found out."""
        return tuple(one for one in self.verdicts if one.verdict == ERROR)

    @property
    def laws(self) -> list[str]:
        """The laws, in order."""
        return list(dict.fromkeys(one.law for one in self.verdicts))

    @property
    def axioms(self) -> list[str]:
        """The axioms, in order."""
        return list(dict.fromkeys(one.axiom for one in self.verdicts))

    @property
    def tolerances(self) -> list[str]:
        """A sentence for each memory two looks at which differ in one state."""
        within = {one.law: one.tolerance for one in self.verdicts if one.tolerance > TOLERANCE}
        return [tolerance_text(law, apart) for law, apart in within.items()]

    def at(self, law: str, axiom: str) -> AxiomVerdict:
        """One cell."""
        return next(one for one in self.verdicts if (one.law, one.axiom) == (law, axiom))

    def __repr__(self) -> str:
        """The verdicts of one law, or a line a law."""
        if len(self.laws) == 1:
            return "\n".join(f"{one.axiom:<22} {one.verdict}{': ' + one.why if one.why else ''}" for one in self.verdicts)
        lines = [f"{law:<26} breaks {', '.join(self.of(law)) or 'none'}" for law in self.laws]
        return "\n".join(lines)

    def of(self, law: str) -> list[str]:
        """The axioms that a law breaks."""
        return [one.axiom for one in self.broken if one.law == law]


def witness(one: AxiomVerdict) -> str:
    """What was found, as a sentence and a table of events."""
    return f"{one.why}\n{event_table(one.witness)}" if one.witness else one.why


def looked_at(subject: Subject) -> Subject:
    """A memory with its measured tolerance; one that cannot be looked at as it is: its verdicts say why."""
    try:
        return measured(subject)
    except MalsimError:
        return subject


def matrix(
    subjects: Sequence[Subject], axioms: Iterable[Axiom] | None = None, *, seed: int = 0,
    watch: Callable[[Sequence[Subject]], Iterable[Subject]] = iter,
) -> Matrix:  # fmt: skip
    """Every memory under every axiom; what goes wrong in one cell does not touch the others."""
    rows = list(axioms) if axioms is not None else list(shipped_axioms().values())
    return Matrix(
        tuple(
            judge(each, axiom, seed=seed) for subject in watch(subjects) for each in (looked_at(subject),) for axiom in rows
        )
    )
