"""Recomputing at admission, as the reference does: each claim at once moves the cells its edges name, in edge order.

The order is the law here, so this walks claim by claim; malsim's own rules leave every score to the tick.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory import law
from malsim.memory.graph.claim_graph import Memory
from malsim.memory.scoring.outcomes import accusations, in_record, outside

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from malsim.memory.gate.append import Built
    from malsim.memory.gate.numbering import Ints
    from malsim.memory.gate.resolve import Resolution
    from malsim.memory.rules import Rules

__all__ = ["moved"]

FINE = 2**31


def moved(built: Built, outcome: Resolution, factors: Mapping[str, float], rules: Rules) -> Built:
    """The built memory with every new cell's factor as of its admission and every named cell's effective moved.

    `factors` stand in for the writers' own records.
    """
    memory = built.memory
    state = _State.of(built, built.row[outcome.created], rules)
    demoted_by: defaultdict[int, list[int]] = defaultdict(list)
    for row, claim in zip(*(part.tolist() for part in built.demoted), strict=True):
        demoted_by[claim].append(row)
    new = memory.edges.slice(built.first_edge)
    written: defaultdict[int, list[tuple[int, str, int, float]]] = defaultdict(list)
    for claim, edge in zip(
        built.edge_claim.tolist(), new.select("source", "relation", "target", "weight").rows(), strict=True
    ):
        written[claim].append(edge)
    walked: defaultdict[int, list[int]] = defaultdict(list)
    for claim, target in zip(*(part.tolist() for part in built.walk), strict=True):
        walked[claim].append(target)
    writers = memory.cells["writer"].to_list() if factors else []
    for claim in np.flatnonzero(outcome.accepted).tolist():
        row = int(built.row[claim])
        if outcome.created[claim]:
            state.admit(row, factors.get(writers[row]) if factors else None)
        for edge in written[claim]:
            state.connect(*edge)
        for old in demoted_by[claim]:
            state.demote(old, row)
        for target in (*walked[claim], row) if outcome.created[claim] else walked[claim]:
            state.recompute(target)
    cells = memory.cells.with_columns(
        pl.Series("effective", state.effective, dtype=pl.Float64),
        pl.Series("calibration", state.factor, dtype=pl.Float64),
    )
    return replace(built, memory=Memory(cells, memory.edges, memory.writers, memory.scanned))


@dataclass
class _State:
    """Scores, statuses and records as they stand after each claim."""

    rules: Rules
    stated: list[float]
    author: list[int]
    factor: list[float]
    effective: list[float]
    active: list[bool]
    superseded: list[bool]
    accusers: defaultdict[int, set[int]]
    accuses: defaultdict[int, set[int]]
    standing: _Incoming
    incoming: dict[int, dict[tuple[int, str], float]]
    outcomes: list[int]
    judged: list[bool]  # which cells count in a record at all
    outside: list[bool]  # which cells are evidence that no writer can reach
    penalties: list[int]  # in grains, so that the order of adding and taking away leaves no trace in them

    @classmethod
    def of(cls, built: Built, new: Ints, rules: Rules) -> _State:
        """The state before the batch: its `new` rows hold no edge and count in no record yet."""
        memory, cells = built.memory, built.memory.cells
        standing = memory.edges.head(built.first_edge)
        old = ~np.isin(np.arange(cells.height), new)
        superseded = (cells["status"] == "superseded").to_numpy().copy()
        demoted = built.demoted[0]
        superseded[demoted] = False
        active = (cells["status"] == "active").to_numpy() & old
        active[demoted] = old[demoted]
        before = Memory(cells, standing, memory.writers)
        accuser, accused = accusations(before, rules.evidence_from)
        wrong = superseded.copy()
        wrong[accused[active[accuser]]] = True
        stated, author = cells["stated"].to_numpy(), cells["author"].to_numpy()
        cost = law.CALIBRATIONS[rules.calibration](stated, wrong)
        size, counts = memory.writers.height, in_record(before, rules)
        known = old & counts
        accusers, accuses = defaultdict(set), defaultdict(set)
        for source, target in zip(accuser.tolist(), accused.tolist(), strict=True):
            accusers[target].add(source)
            accuses[source].add(target)
        return cls(
            rules=rules,
            stated=stated.tolist(),
            author=author.tolist(),
            factor=cells["calibration"].to_list(),
            effective=cells["effective"].to_list(),
            active=active.tolist(),
            superseded=superseded.tolist(),
            accusers=accusers,
            accuses=accuses,
            standing=_Incoming(standing, cells.height),
            incoming={},
            outcomes=np.bincount(author[known], minlength=size).tolist(),
            judged=counts.tolist(),
            outside=outside(memory).tolist(),
            penalties=[
                int(coarse) * FINE + int(fine)
                for coarse, fine in zip(
                    *(np.bincount(author[known], weights=part, minlength=size) for part in _grains(cost[known])),
                    strict=True,
                )
            ],
        )

    def admit(self, row: int, given: float | None) -> None:
        """Give a new cell its writer's factor of this moment and its first effective."""
        author, rules = self.author[row], self.rules
        record = (np.array([self.outcomes[author]]), np.array([self.penalties[author] / FINE**2]))
        self.factor[row] = float(law.factors(*record, rules)[0]) if given is None else given
        self.effective[row] = min(1.0, max(0.0, self.stated[row] * self.factor[row]))
        self.active[row] = True
        self.count(row, 1)

    def connect(self, source: int, relation: str, target: int, weight: float) -> None:
        """Add one edge; a contradiction also enters the record of the target's writer."""
        self.into(target)[source, relation] = weight
        if relation == "supports" and self.rules.evidence_from == "external" and self.reaches(source, target):
            self.judge(target)
        if relation == "contradicts" and self.reaches(source, target):
            self.judge(target)
            self.count(target, -1)
            self.accusers[target].add(source)
            self.accuses[source].add(target)
            self.count(target, 1)

    def reaches(self, judge: int, row: int) -> bool:
        """Whether one cell may count against another's writer."""
        evidence = self.rules.evidence_from
        other = self.author[judge] != self.author[row]
        return evidence == "any" or (other and (evidence != "external" or self.outside[judge]))

    def judge(self, row: int) -> None:
        """Let a cell count in its writer's record from now on."""
        if not self.judged[row]:
            self.judged[row] = True
            self.count(row, 1)

    def demote(self, row: int, successor: int) -> None:
        """Supersede a cell: an outcome of its writer's, and no accuser any more."""
        if self.reaches(successor, row):
            self.judge(row)
        moved_rows = [row, *self.accuses[row]]
        for other in moved_rows:
            self.count(other, -1)
        self.active[row], self.superseded[row] = False, True
        for other in moved_rows:
            self.count(other, 1)

    def count(self, row: int, sign: int) -> None:
        """Enter a cell's outcome in its writer's record, or take it out."""
        if not self.judged[row]:
            return
        wrong = self.superseded[row] or any(self.active[source] for source in self.accusers[row])
        self.outcomes[self.author[row]] += sign
        coarse, fine = _grains(law.CALIBRATIONS[self.rules.calibration](np.array([self.stated[row]]), np.array([wrong])))
        self.penalties[self.author[row]] += sign * (int(coarse[0]) * FINE + int(fine[0]))

    def into(self, row: int) -> dict[tuple[int, str], float]:
        """The edges that point at a cell so far."""
        if row not in self.incoming:
            self.incoming[row] = self.standing.of(row)
        return self.incoming[row]

    def recompute(self, row: int) -> None:
        """One cell's effective, from the masses as they are at this moment."""
        support = challenge = 0.0
        for (source, _), weight in self.into(row).items():
            if weight > 0.0:
                support += weight * self.effective[source]
            else:
                challenge -= weight * self.effective[source]
        ceilings = {"support_ceiling": self.rules.support_ceiling, "challenge_ceiling": self.rules.challenge_ceiling}
        made = law.terms(self.stated[row], self.factor[row], support, challenge, tanh=math.tanh, **ceilings)
        self.effective[row] = min(1.0, max(0.0, made.anchor + (made.support - made.challenge)))


def _grains(cost: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Numbers in [0, 1] as whole grains of 2^-62: how many times FINE, and how many more."""
    coarse = np.floor(cost * FINE)
    return coarse, np.floor((cost * FINE - coarse) * FINE)


class _Incoming:
    """The edges that stood before the batch, found by their target."""

    def __init__(self, edges: pl.DataFrame, cells: int) -> None:
        target = edges["target"].to_numpy()
        self.order = np.argsort(target, kind="stable")
        self.starts = np.searchsorted(target[self.order], np.arange(cells + 1))
        self.edges = edges

    def of(self, row: int) -> dict[tuple[int, str], float]:
        """Weights of the edges into one row, by source and relation."""
        here = self.edges[self.order[self.starts[row] : self.starts[row + 1]]]
        return {
            (source, relation): weight for source, relation, weight in here.select("source", "relation", "weight").rows()
        }
