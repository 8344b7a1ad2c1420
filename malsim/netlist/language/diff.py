"""Differences in content between two netlists, regardless of formatting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from malsim.netlist.language.facts import facts

if TYPE_CHECKING:
    from malsim.netlist.language.statements import Document


@dataclass(frozen=True, slots=True)
class Change:
    """Difference between two netlists in one subject; a side is None if that netlist lacks the subject."""

    kind: str
    subject: str
    before: str | None
    after: str | None

    def __str__(self) -> str:
        """Format the change as one line: `+` new, `-` gone, `~` changed."""
        if self.before is None:
            return f"+ {self.kind} {self.subject}: {self.after}"
        if self.after is None:
            return f"- {self.kind} {self.subject}: {self.before}"
        return f"~ {self.kind} {self.subject}: {self.before} → {self.after}"


def diff(before: Document, after: Document) -> list[Change]:
    """Compare two netlists by meaning: cells, edges, fields, wires, values, instances, threads, order, programs.

    Comments, blank lines, spelling of numbers, the order of sentences and which line an edge stands on say nothing.

    >>> from malsim.netlist import parse
    >>> print(*diff(parse("setp weak.level .5"), parse("setp weak.level 0.6 # up")))
    ~ value weak.level: 0.5 → 0.6
    """
    old, new = facts(before.statements), facts(after.statements)
    changes = [
        Change(kind, subject, old.values[kind].get(subject), new.values[kind].get(subject))
        for kind in sorted({*old.values, *new.values})
        for subject in sorted({*old.values[kind], *new.values[kind]})
    ]
    for thread in sorted({*old.orders, *new.orders}):
        orders = [" ".join(side.orders.get(thread, ())) or None for side in (old, new)]
        changes.append(Change("order", thread, *orders))
    return [change for change in changes if change.before != change.after]
