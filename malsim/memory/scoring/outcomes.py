"""Outcomes that count against a writer: its superseded or contradicted cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.schema import INIT, NONE, RELATIONS, WORDS
from malsim.memory.scoring.answers import wrong_by_answer

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.memory.graph.claim_graph import Memory
    from malsim.memory.rules import Rules

_OUTSIDE = {name: words.index("external") for name, words in WORDS.items() if "external" in words}


def outside(memory: Memory) -> Bools:
    mask: Bools = np.logical_or(*(memory.column(name) == word for name, word in _OUTSIDE.items()))
    return mask


EVIDENCE: dict[str, Callable[[Memory, Ints, Ints], Bools]] = {
    "any": lambda _, judge, __: np.ones(len(judge), dtype=bool),
    "other_writer": lambda memory, judge, judged: memory.column("author")[judge] != memory.column("author")[judged],
    "external": lambda memory, judge, judged: EVIDENCE["other_writer"](memory, judge, judged) & outside(memory)[judge],
}
"""Whether one cell may count against the record of another's writer."""


def accusations(memory: Memory, evidence_from: str) -> tuple[Ints, Ints]:
    if evidence_from == "other_writer":
        return memory.wiring.challengers.values, memory.wiring.challenged.values
    accuser, accused = memory.wiring.accusers.values, memory.wiring.accuseds.values
    counts = EVIDENCE[evidence_from](memory, accuser, accused)
    return accuser[counts], accused[counts]


def no_outcomes(memory: Memory, evidence_from: str) -> Bools:
    """Return a mask of cells that do not count for calibration: questions, answers to them, and cells by `_init`.

    The constitution, its questions and lent cells are nobody's bets; an answer to a question gives way when the project
    changes, not because it was wrong. Under `any`, the published reading, every cell is an outcome.
    """
    origin = memory.column("origin")
    mask: Bools = LENT.take(origin)
    if evidence_from == "any" or not mask.any():
        return np.zeros_like(mask)
    mask &= (memory.table("writers").column("writer") == INIT)[memory.column("author")]
    if mask.any():
        charter = mask & (origin == _PROGRAM)
        while charter.any():
            mask, heirs = mask | charter, memory.column("successor")[charter]
            charter = np.zeros_like(mask)
            charter[heirs[heirs != NONE]] = True
            charter &= ~mask
    return mask


_PROGRAM = WORDS["origin"].index("program")
LENT: Bools = np.isin(WORDS["origin"], ("program", "connector"))
"""By origin: whether a cell of it may be one of the first ten or a lent one."""


def replaced(memory: Memory, evidence_from: str) -> Bools:
    successor = memory.column("successor")
    mask: Bools = successor != NONE
    rows = np.flatnonzero(mask)
    mask[rows] = EVIDENCE[evidence_from](memory, successor[rows], rows)
    return mask


def contradicted(memory: Memory, evidence_from: str, effective: Array | None = None) -> Bools:
    """Return a mask of cells that were superseded or have an active challenger, among those that can count.

    Where `effective` is given, an accuser counts only if it is worth more than the accused.
    """
    accuser, accused = accusations(memory, evidence_from)
    wrong = replaced(memory, evidence_from)
    if effective is not None:
        stands = effective.take(accuser) > effective.take(accused)
        accuser, accused = accuser[stands], accused[stands]
    wrong[accused[memory.is_active.take(accuser)] if memory.inactive.size else accused] = True
    return wrong


def in_record(memory: Memory, rules: Rules) -> Bools:
    """Return a mask of cells in their writers' records; under external evidence, only those it addressed.

    It speaks of a cell by superseding it, or by an edge from an active cell that takes a side.
    """
    outcomes = ~no_outcomes(memory, rules.evidence_from)
    if rules.evidence_from != "external" or rules.wrong_when == "lost":
        return outcomes
    mask, edges = replaced(memory, "external"), memory.table("edges")
    speaks = np.isin(edges.column("relation"), _VERDICTS)
    source, target = (edges.column(name)[speaks] for name in ("source", "target"))
    counts = EVIDENCE["external"](memory, source, target) & memory.is_active[source]
    mask[target[counts]] = True
    return mask & outcomes


_VERDICTS = [RELATIONS.index(name) for name in ("supports", "contradicts")]

WRONG: dict[str, Callable[[Memory, Array, Rules], Bools]] = {
    "contradicted": lambda memory, _, rules: contradicted(memory, rules.evidence_from),
    "outweighed": lambda memory, effective, rules: contradicted(memory, rules.evidence_from, effective),
    "lost": lambda memory, effective, _: wrong_by_answer(memory, effective),
}
"""Which cells count as wrong outcomes, by `wrong_when`."""
