"""Recomputation at admission, as in the reference implementation: each claim immediately updates the targets of its edges.

The result depends on the order of claims, so they are processed one by one. Other rules leave all scores to the tick.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import polars as pl

from malsim.memory import law
from malsim.memory.graph.claim_graph import Memory
from malsim.memory.outcomes import accusations, in_record, outside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from malsim.memory.gate.append import BatchResult
    from malsim.memory.gate.resolution import Resolution
    from malsim.memory.graph.arrays import Ints
    from malsim.memory.rules import Rules

FINE = 2**31
_Value = TypeVar("_Value")


def recompute(result: BatchResult, outcome: Resolution, factors: Mapping[str, float], rules: Rules) -> BatchResult:
    """Recompute a batch claim by claim: set the calibration factor of each new cell, and update the targets of its edges.

    `factors`, keyed by writer, are used instead of the writers' records.
    """
    memory = result.memory
    state = _State.of(result, result.row[outcome.created], rules)
    rows, claims = result.demotions
    demotions = _by_claim(claims, rows.tolist())
    new = memory.edges.slice(result.first_edge).select("source", "relation", "target", "weight")
    edges = _by_claim(result.edge_claim, new.rows())
    targets = _by_claim(result.walk[0], result.walk[1].tolist())
    writers = memory.cells["writer"].to_list() if factors else []
    for claim in np.flatnonzero(outcome.accepted).tolist():
        row = int(result.row[claim])
        if outcome.created[claim]:
            state.admit(row, factors.get(writers[row]) if factors else None)
        for edge in edges[claim]:
            state.connect(*edge)
        for old in demotions[claim]:
            state.demote(old, row)
        for target in (*targets[claim], row) if outcome.created[claim] else targets[claim]:
            state.recompute(target)
    cells = memory.cells.with_columns(
        pl.Series("effective", state.effective, dtype=pl.Float64), pl.Series("calibration", state.factor, dtype=pl.Float64)
    )
    return replace(result, memory=Memory(cells, memory.edges, memory.writers, memory.scanned))


def _by_claim(claims: Ints, values: Iterable[_Value]) -> defaultdict[int, list[_Value]]:
    lists: defaultdict[int, list[_Value]] = defaultdict(list)
    for claim, value in zip(claims.tolist(), values, strict=True):
        lists[claim].append(value)
    return lists


@dataclass
class _State:
    """Scores, statuses and writers' records, updated after each claim."""

    rules: Rules
    stated: list[float]
    author: list[int]
    factor: list[float]
    effective: list[float]
    active: list[bool]
    superseded: list[bool]
    accusers: defaultdict[int, set[int]]
    accuses: defaultdict[int, set[int]]
    earlier: Callable[[int], dict[tuple[int, str], float]]
    incoming: dict[int, dict[tuple[int, str], float]]
    outcomes: list[int]
    counts: list[bool]  # whether each cell counts in its writer's record
    outside: list[bool]  # whether each cell is external evidence
    penalties: list[int]  # each writer's penalties in units of 1/FINE², so that sums are exact

    @classmethod
    def of(cls, result: BatchResult, new: Ints, rules: Rules) -> _State:
        memory, cells = result.memory, result.memory.cells
        earlier = memory.edges.head(result.first_edge)
        old = ~np.isin(np.arange(cells.height), new)
        superseded = (cells["status"] == "superseded").to_numpy().copy()
        rows = result.demotions[0]
        superseded[rows] = False
        active = (cells["status"] == "active").to_numpy() & old
        active[rows] = old[rows]
        before = Memory(cells, earlier, memory.writers)
        accuser, accused = accusations(before, rules.evidence_from)
        wrong = superseded.copy()
        wrong[accused[active[accuser]]] = True
        stated, author = cells["stated"].to_numpy(), cells["author"].to_numpy()
        cost = law.CALIBRATIONS[rules.calibration](stated, wrong)
        size, counts = memory.writers.height, in_record(before, rules)
        mask = old & counts
        penalties = [np.bincount(author[mask], weights=part, minlength=size) for part in _units(cost[mask])]
        accusers, accuses = defaultdict(set), defaultdict(set)
        for source, target in zip(accuser.tolist(), accused.tolist(), strict=True):
            accusers[target].add(source)
            accuses[source].add(target)
        return cls(
            rules=rules, stated=stated.tolist(), author=author.tolist(), factor=cells["calibration"].to_list(),
            effective=cells["effective"].to_list(), active=active.tolist(), superseded=superseded.tolist(),
            accusers=accusers, accuses=accuses, earlier=_edges_into(earlier, cells.height), incoming={},
            outcomes=np.bincount(author[mask], minlength=size).tolist(), counts=counts.tolist(),
            outside=outside(memory).tolist(),
            penalties=[int(coarse) * FINE + int(fine) for coarse, fine in zip(*penalties, strict=True)],
        )  # fmt: skip

    def admit(self, row: int, factor: float | None) -> None:
        """Set a new cell's calibration factor and its first effective confidence."""
        author, rules = self.author[row], self.rules
        record = (np.array([self.outcomes[author]]), np.array([self.penalties[author] / FINE**2]))
        self.factor[row] = float(law.factors(*record, rules)[0]) if factor is None else factor
        self.effective[row] = min(1.0, max(0.0, self.stated[row] * self.factor[row]))
        self.active[row] = True
        self.count(row, 1)

    def connect(self, source: int, relation: str, target: int, weight: float) -> None:
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
        evidence = self.rules.evidence_from
        other = self.author[judge] != self.author[row]
        return evidence == "any" or (other and (evidence != "external" or self.outside[judge]))

    def judge(self, row: int) -> None:
        """Count a cell in its writer's record from now on."""
        if not self.counts[row]:
            self.counts[row] = True
            self.count(row, 1)

    def demote(self, row: int, successor: int) -> None:
        """Supersede a cell: count it in its writer's record, and withdraw its challenges to other cells."""
        if self.reaches(successor, row):
            self.judge(row)
        affected = [row, *self.accuses[row]]
        for cell in affected:
            self.count(cell, -1)
        self.active[row], self.superseded[row] = False, True
        for cell in affected:
            self.count(cell, 1)

    def count(self, row: int, sign: int) -> None:
        if not self.counts[row]:
            return
        wrong = self.superseded[row] or any(self.active[source] for source in self.accusers[row])
        self.outcomes[self.author[row]] += sign
        coarse, fine = _units(law.CALIBRATIONS[self.rules.calibration](np.array([self.stated[row]]), np.array([wrong])))
        self.penalties[self.author[row]] += sign * (int(coarse[0]) * FINE + int(fine[0]))

    def into(self, row: int) -> dict[tuple[int, str], float]:
        """Return the weights of a cell's incoming edges, keyed by source and relation."""
        if row not in self.incoming:
            self.incoming[row] = self.earlier(row)
        return self.incoming[row]

    def recompute(self, row: int) -> None:
        support = challenge = 0.0
        for (source, _), weight in self.into(row).items():
            if weight > 0.0:
                support += weight * self.effective[source]
            else:
                challenge -= weight * self.effective[source]
        parts = law.terms(self.stated[row], self.factor[row], support, challenge, tanh=math.tanh, **law.ceilings(self.rules))
        self.effective[row] = min(1.0, max(0.0, parts.anchor + (parts.support - parts.challenge)))


def _units(cost: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Split each penalty into multiples of 1/FINE and 1/FINE², so that sums of penalties are exact."""
    coarse = np.floor(cost * FINE)
    return coarse, np.floor((cost * FINE - coarse) * FINE)


def _edges_into(edges: pl.DataFrame, cells: int) -> Callable[[int], dict[tuple[int, str], float]]:
    """Return a function that maps a cell's row to the weights of its incoming edges, keyed by source and relation."""
    edges = edges.sort("target", maintain_order=True)
    starts = np.searchsorted(edges["target"].to_numpy(), np.arange(cells + 1))

    def into(row: int) -> dict[tuple[int, str], float]:
        incoming = edges[starts[row] : starts[row + 1]].select("source", "relation", "weight")
        return {(source, relation): weight for source, relation, weight in incoming.rows()}

    return into
