"""Batches of drafted claims, stored as numeric arrays."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.memory import schema
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.sim.writers.engine.claim_context import DraftEdge


@dataclass(frozen=True, kw_only=True)
class ClaimBatch:
    """Drafted claims and their edges, stored in columns.

    Columns of claims: `rep` (index of the replication in the run), `t` (arrival at the gate, ms), `who` (index of the
    writer in the run), `turn` (the writer's own count), `fact` and `value` (indexes), `stated`, `form` (index among the
    run's forms). Columns of edges, grouped by claim: `claim` (row in the columns of claims), `relation` (number), `target`
    (row in the memory's cells), `mutual`.
    """

    rep: Ints
    t: Ints
    who: Ints
    turn: Ints
    fact: Ints
    value: Ints
    stated: Array
    form: Ints
    claim: Ints
    relation: Ints
    target: Ints
    mutual: Bools

    def __len__(self) -> int:
        return len(self.rep)

    @classmethod
    def none(cls) -> ClaimBatch:
        return _NOTHING

    @classmethod
    def of(cls, edges: Sequence[DraftEdge], *, rep: Ints, **columns: Ints | Array | float) -> ClaimBatch:
        whole: dict[str, NDArray[Any]] = {
            name: value if isinstance(value, np.ndarray) else np.full(len(rep), value) for name, value in columns.items()
        }
        return cls(rep=rep, **whole, **_flat(edges))

    @classmethod
    def joined(cls, parts: Sequence[ClaimBatch]) -> ClaimBatch:
        parts = [part for part in parts if len(part)]
        if len(parts) <= 1:
            return parts[0] if parts else cls.none()
        columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS}
        starts = np.cumsum([0, *(len(part) for part in parts[:-1])])
        columns["claim"] += np.repeat(starts, [len(part.claim) for part in parts])
        return cls(**columns)

    def rows(self, rows: Ints) -> ClaimBatch:
        edges = np.bincount(self.claim, minlength=len(self))
        counts = edges[rows]
        claim = np.repeat(np.arange(len(rows)), counts)
        edge = np.repeat(edges.cumsum()[rows] - counts.cumsum(), counts) + np.arange(len(claim))
        columns = {name: getattr(self, name)[rows] for name in _OF_CLAIMS}
        return ClaimBatch(**columns, claim=claim, **{name: getattr(self, name)[edge] for name in _OF_EDGES})


def _flat(edges: Sequence[DraftEdge]) -> dict[str, NDArray[Any]]:
    """Return edges as columns of `ClaimBatch`, grouped by claim in the given order, without duplicates."""
    targets = np.array([edge.target for edge in edges], dtype=np.int64).reshape(len(edges), -1 if edges else 0)
    claim, index = np.nonzero(targets.T != NONE)
    relation = np.array([schema.RELATIONS.index(edge.relation) for edge in edges], dtype=np.int64)[index]
    target = targets[index, claim]
    mutual = np.array([edge.mutual for edge in edges], dtype=bool)[index]
    code = (claim * len(schema.RELATIONS) + relation) * (target.max(initial=0) + 1) + target
    order = np.argsort(code, kind="stable")
    first = np.ones(len(code), dtype=bool)
    first[order[1:]] = code[order[1:]] != code[order[:-1]]
    return {"claim": claim[first], "relation": relation[first], "target": target[first], "mutual": mutual[first]}


_KINDS = {"stated": np.float64, "mutual": np.bool_}
_COLUMNS = tuple(part.name for part in fields(ClaimBatch))
_OF_EDGES = ("relation", "target", "mutual")
_OF_CLAIMS = tuple(name for name in _COLUMNS if name not in (*_OF_EDGES, "claim"))
_NOTHING = ClaimBatch(**{name: np.zeros(0, dtype=_KINDS.get(name, np.int64)) for name in _COLUMNS})
