"""Outcomes that count against a writer (superseded or contradicted cells), and a memory's answer about each object."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory.schema import INIT, NONE, RELATIONS, WORDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.memory.graph.claim_graph import Memory
    from malsim.memory.rules import Rules

_EXTERNAL = {name: words.index("external") for name, words in WORDS.items() if "external" in words}
_PAIR = ["rep", "object", "said"]


def outside(memory: Memory) -> Bools:
    """Return a mask of the cells whose origin or verification is external."""
    mask: Bools = np.logical_or(*(memory.column(name) == code for name, code in _EXTERNAL.items()))
    return mask


EVIDENCE: dict[str, Callable[[Memory, Ints, Ints], Bools]] = {
    "any": lambda _, judge, __: np.ones(len(judge), dtype=bool),
    "other_writer": lambda memory, judge, judged: memory.column("author")[judge] != memory.column("author")[judged],
    "external": lambda memory, judge, judged: EVIDENCE["other_writer"](memory, judge, judged) & outside(memory)[judge],
}
"""Masks of pairs of cells (judge, judged) in which the judge may count against the record of the judged cell's writer."""


def accusations(memory: Memory, evidence_from: str) -> tuple[Ints, Ints]:
    """Return the rows (accuser, accused) of the `contradicts` edges that may count against a writer."""
    if evidence_from == "other_writer":
        return memory.wiring.challengers.values, memory.wiring.challenged.values
    accuser, accused = memory.wiring.accusers.values, memory.wiring.accused.values
    counts = EVIDENCE[evidence_from](memory, accuser, accused)
    return accuser[counts], accused[counts]


def no_outcomes(memory: Memory, evidence_from: str) -> Bools:
    """Mask the cells not counted for calibration: initial cells, cells from other projects, and answers to questions.

    Such cells are not their writers' bets; an answer to a question is replaced because the project changes, not because it
    was wrong. Under `any`, as published, every cell is an outcome.
    """
    origin = memory.column("origin")
    mask: Bools = LENT.take(origin)
    if evidence_from == "any" or not mask.any():
        return np.zeros_like(mask)
    mask &= (memory.table("writers").column("writer") == INIT)[memory.column("author")]
    initial = mask & (origin == WORDS["origin"].index("program"))
    while initial.any():
        mask, successors = mask | initial, memory.column("successor")[initial]
        initial = np.zeros_like(mask)
        initial[successors[successors != NONE]] = True
        initial &= ~mask
    return mask


LENT: Bools = np.isin(WORDS["origin"], ("program", "connector"))
"""By code of origin: whether its cells may be initial or lent ones."""


def replaced(memory: Memory, evidence_from: str) -> Bools:
    """Return a mask of the superseded cells whose successor may count against the superseded cell's writer."""
    successor = memory.column("successor")
    mask: Bools = successor != NONE
    rows = np.flatnonzero(mask)
    mask[rows] = EVIDENCE[evidence_from](memory, successor[rows], rows)
    return mask


def contradicted(memory: Memory, evidence_from: str, effective: Array | None = None) -> Bools:
    """Return a mask of the cells that were superseded, or are contradicted by an active cell whose evidence counts.

    With `effective`, a challenger counts only if its value exceeds that of the challenged cell.
    """
    accuser, accused = accusations(memory, evidence_from)
    wrong = replaced(memory, evidence_from)
    if effective is not None:
        stronger = effective.take(accuser) > effective.take(accused)
        accuser, accused = accuser[stronger], accused[stronger]
    wrong[accused[memory.is_active.take(accuser)] if memory.inactive.size else accused] = True
    return wrong


def in_record(memory: Memory, rules: Rules) -> Bools:
    """Return a mask of the cells that count in their writers' records.

    With external evidence, only cells that external evidence judges count: by superseding the cell, or by a supports or
    contradicts edge from an active cell.
    """
    outcomes = ~no_outcomes(memory, rules.evidence_from)
    if rules.evidence_from != "external" or rules.wrong_when == "lost":
        return outcomes
    mask, edges = replaced(memory, "external"), memory.table("edges")
    judges = np.isin(edges.column("relation"), [RELATIONS.index(name) for name in ("supports", "contradicts")])
    source, target = (edges.column(name)[judges] for name in ("source", "target"))
    counts = EVIDENCE["external"](memory, source, target) & memory.is_active[source]
    mask[target[counts]] = True
    return mask & outcomes


def heads(memory: Memory) -> pl.DataFrame:
    """Return the first active cell for each object and value, with columns rep, object, said (the value), row and effective.

    The value of a claim is its `value`, by default its title. Cells without an object are left out.
    """
    return _cell_values(memory).filter(pl.col("status") == "active").unique(_PAIR, keep="first", maintain_order=True)


def answers(memory: Memory) -> pl.DataFrame:
    """Return, for each object, the head with the highest effective confidence. If several are equal, return the earliest."""
    ranked = heads(memory).sort(["effective", "row"], descending=[True, False], nulls_last=True)
    return ranked.unique(["rep", "object"], keep="first", maintain_order=True).sort("row")


def leaders(memory: Memory) -> pl.DataFrame:
    """Return the answers with a column `tied`: the values of the heads that share the highest effective confidence."""
    every = heads(memory)
    highest = every.filter(pl.col("effective") == pl.col("effective").max().over("rep", "object"))
    tied = highest.group_by("rep", "object").agg(tied="said")
    return answers(memory).join(tied, on=["rep", "object"], how="left", maintain_order="left").with_columns(
        tied=pl.coalesce("tied", pl.concat_list("said"))
    )  # fmt: skip


def share_right(truth: str) -> pl.Expr:
    """Return an expression for an answer's credit: 1/k if the true value is one of k tied values, otherwise 0."""
    return pl.when(pl.col("tied").list.contains(pl.col(truth))).then(1.0 / pl.col("tied").list.len()).otherwise(0.0)


def _wrong_by_answer(memory: Memory, effective: Array) -> Bools:
    """Return a mask of the cells that state a value other than the memory's answer about the object."""
    trial = memory.with_cells(memory.cells.with_columns(pl.Series("effective", effective).fill_nan(None)))
    answer = answers(trial).select("rep", "object", answer="said")
    values = _cell_values(trial).join(answer, on=["rep", "object"], how="left", maintain_order="left")
    wrong = np.zeros(memory.height, dtype=bool)
    wrong[values["row"].to_numpy()] = (values["said"] != values["answer"]).fill_null(value=False).to_numpy()
    return wrong


def _cell_values(memory: Memory) -> pl.DataFrame:
    cells = memory.cells.select("rep", "object", "value", "title", "status", "effective").with_row_index("row")
    value = pl.coalesce(pl.col("value").cast(pl.String), pl.col("title"))
    return cells.filter(pl.col("object").is_not_null() & (pl.col("object") != "")).with_columns(value.alias("said"))


WRONG: dict[str, Callable[[Memory, Array, Rules], Bools]] = {
    "contradicted": lambda memory, _, rules: contradicted(memory, rules.evidence_from),
    "outweighed": lambda memory, effective, rules: contradicted(memory, rules.evidence_from, effective),
    "lost": lambda memory, effective, _: _wrong_by_answer(memory, effective),
}
"""Masks of the cells that count as wrong outcomes, by the rule `wrong_when`."""
