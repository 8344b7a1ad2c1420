"""Correction on the record: which cells a batch replaces, and by what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.relations import SUPERSEDES
from malsim.memory.schema import RELATIONS

if TYPE_CHECKING:
    from malsim.memory.cells import Memory
    from malsim.memory.numbering import Batch, Bools, Ints
    from malsim.memory.relations import Outcome
    from malsim.memory.rules import Rules
    from malsim.memory.validation import Validated

__all__ = ["Replaced", "replacements"]


@dataclass(frozen=True)
class Replaced:
    """Ids of the cells a batch demoted (`old`), of what replaced them (`new`), and the claim that did it (`at`).

    `lines` holds every (new, old) pair of ids from which versions count, those that came too late to demote included.
    """

    old: Ints
    new: Ints
    at: Ints
    lines: tuple[Ints, Ints]


_NONE = np.zeros(0, dtype=np.int64)
NOTHING = Replaced(_NONE, _NONE, _NONE, (_NONE, _NONE))
CONTRADICTS = RELATIONS.index("contradicts")


def replacements(memory: Memory, checked: Validated, batch: Batch, outcome: Outcome, rules: Rules) -> Replaced:
    """The cells this batch demotes: by a supersedes edge, or by a new cell's own contradiction of its writer's word.

    The first to reach an active cell demotes it; who comes later only joins its line.
    """
    explicit = (batch.code == SUPERSEDES) & ~(batch.by_handle & (rules.supersede_name == "key"))
    corrects = _corrects(memory, checked, batch, outcome)
    source = outcome.source[batch.claim]
    acts = outcome.accepted[batch.claim] & (explicit | corrects) & (source != outcome.target)
    if rules.restated_edges == "dropped":
        acts &= outcome.created[batch.claim]
    if not acts.any():
        return NOTHING
    claim, new, old = batch.claim[acts], source[acts], outcome.target[acts]
    active = np.flatnonzero(batch.is_active(old))
    first = active[np.sort(np.unique(old[active], return_index=True)[1])]
    line = np.zeros(len(old), dtype=bool) if rules.lineage == "one_level" else explicit[acts]
    line[first] = True
    return Replaced(old[first], new[first], claim[first], (new[line], old[line]))


def _corrects(memory: Memory, checked: Validated, batch: Batch, outcome: Outcome) -> Bools:
    """Edges by which a new cell contradicts an unlocked cell of the same writer about the same non-empty object."""
    found = np.zeros(len(batch.claim), dtype=bool)
    may = np.flatnonzero((batch.code == CONTRADICTS) & outcome.created[batch.claim] & (outcome.target >= 0))
    if not may.size:
        return found
    may = may[batch.author(outcome.target[may]) == batch.authors.of_claims[batch.claim[may]]]
    if not may.size:
        return found
    objects, target = checked.told.column("object"), outcome.target[may]
    ours, theirs = objects[batch.claim[may]], batch.pick(target, memory.column("object"), objects)
    says = np.array([one is not None and one != "" for one in ours], dtype=bool)
    found[may] = says & (ours == theirs) & ~batch.is_locked(target)
    return found
