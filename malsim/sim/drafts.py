"""Claims as numbers, from the writer's hand to the gate, and the words that make them claims."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory import schema
from malsim.memory.claims import as_claims
from malsim.memory.frames import framed
from malsim.memory.index import NONE
from malsim.sim.clock import DAY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from malsim.memory import Memory
    from malsim.sim.occasion import Array, Bools, Edge, Ints
    from malsim.sim.world import Fact

__all__ = ["Drafts", "Form", "Words"]

GRADE = "its claim holds"
TEXTS = schema.CLAIMS["topics"]


@dataclass(frozen=True, kw_only=True)
class Drafts:
    """Claims, one row each, and their edges, one row each.

    Of a claim: `rep` (place among the run's replications), `t` (milliseconds, when it reaches the gate), `who` (place among
    the run's writers), `turn` (the writer's own count), `fact`, `value` (places), `stated`, `form` (place among the run's
    forms). Of an edge: `claim` (row above), `relation` (number), `target` (row of the memory's cells), `mutual`.
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
    def none(cls) -> Drafts:
        """No claim at all."""
        nothing = np.zeros(0, dtype=np.int64)
        columns = {part.name: nothing for part in fields(cls)}
        return cls(**columns | {"stated": np.zeros(0), "mutual": np.zeros(0, dtype=bool)})  # type: ignore[arg-type]  # by name

    @classmethod
    def of(cls, edges: Sequence[Edge], *, rep: Ints, **columns: Ints | Array | float) -> Drafts:
        """Claims with what they intend; a column may be one number for all, and no edge is said twice."""
        shape = (len(rep),)
        spread = {name: np.broadcast_to(np.asarray(column), shape) for name, column in columns.items()}
        return cls(rep=rep, **spread, **_flat(edges))

    @classmethod
    def joined(cls, parts: Sequence[Drafts]) -> Drafts:
        """Several one under the other."""
        parts = [part for part in parts if len(part)]
        if len(parts) <= 1:
            return parts[0] if parts else cls.none()
        shift = np.cumsum([0, *(len(part) for part in parts)])
        moved = [replace(part, claim=part.claim + start) for part, start in zip(parts, shift, strict=False)]
        return cls(**{part.name: np.concatenate([getattr(each, part.name) for each in moved]) for part in fields(cls)})

    def rows(self, rows: Ints) -> Drafts:
        """The claims of these rows, in their order, each with its edges; a row named twice is there twice."""
        order = np.argsort(self.claim, kind="stable")
        starts = np.searchsorted(self.claim[order], np.arange(len(self) + 1))
        counts = starts[rows + 1] - starts[rows]
        claim = np.repeat(np.arange(len(rows)), counts)
        first = np.repeat(starts[rows] - (np.cumsum(counts) - counts), counts)
        edge = order[first + np.arange(len(claim))]
        kept = {name: getattr(self, name)[rows] for name in _OF_CLAIMS}
        return Drafts(**kept, claim=claim, **{name: getattr(self, name)[edge] for name in _OF_EDGES})


def _flat(edges: Sequence[Edge]) -> dict[str, NDArray[Any]]:
    """Edges as columns of `Drafts`: claim by claim, in the order given, none twice."""
    targets = np.array([edge.target for edge in edges], dtype=np.int64).reshape(len(edges), -1 if edges else 0)
    claim, place = np.nonzero(targets.T != NONE)
    relation = np.array([schema.RELATIONS.index(edge.relation) for edge in edges], dtype=np.int64)[place]
    target = targets[place, claim]
    mutual = np.array([edge.mutual for edge in edges], dtype=bool)[place]
    said = (claim * len(schema.RELATIONS) + relation) * (target.max(initial=0) + 1) + target
    first = np.sort(np.unique(said, return_index=True)[1])
    return {"claim": claim[first], "relation": relation[first], "target": target[first], "mutual": mutual[first]}


_OF_EDGES = ("relation", "target", "mutual")
_OF_CLAIMS = tuple(part.name for part in fields(Drafts) if part.name not in (*_OF_EDGES, "claim"))


@dataclass(frozen=True)
class Form:
    """What a population's claims have in common; those not `about` a fact judge a claim, and nobody disputes them."""

    kind: str = "obs"
    verification: str = "unverified"
    origin: str = "llm"
    about: bool = True


class Words:
    """The words of a run: names of writers, facts and forms, from which drafts become claims.

    A claim's body names its writer and the writer's own count, so that none is taken for a restatement of another.
    """

    def __init__(self, facts: Sequence[Fact], writers: Sequence[str], forms: Sequence[Form], first: int) -> None:
        self.first = first
        self.writers = pl.Series("writer", writers, dtype=pl.String)
        self.rank = self.writers.rank("ordinal").to_numpy().astype(np.int64)
        rows = [(fact.name, fact.stability, [fact.topic], [fact.name]) for fact in facts]
        kinds = {"object": pl.String, "stability": pl.String, "topics": TEXTS, "entities": TEXTS}
        self._facts = pl.DataFrame([*rows, (None, "stable", [], [])], schema=kinds, orient="row")
        said = [(f"{fact.name} is {fact.label(v)}", fact.number(v)) for fact in facts for v in range(len(fact.values))]
        self._said = pl.DataFrame([*said, (GRADE, None)], schema={"title": pl.String, "value": pl.Float64}, orient="row")
        self._starts = np.cumsum([0, *(len(fact.values) for fact in facts)])
        columns = ("kind", "verification", "origin")
        self._forms = pl.DataFrame({name: [getattr(form, name) for form in forms] for name in columns})
        self._about = np.array([form.about for form in forms])
        self._constant = as_claims([{"writer": "", "title": "", "confidence": 1.0}])

    def claims(self, drafts: Drafts, memory: Memory) -> pl.DataFrame:
        """Claims (columns of `schema.CLAIMS`) in the order of the gate; row n is draft n."""
        count = len(drafts)
        about = self._about[drafts.form]
        fact = np.where(about, drafts.fact, len(self._starts) - 1)
        said = np.where(about, self._starts[fact] + drafts.value, self._starts[-1])
        writer = self.writers.gather(drafts.who)
        turn = pl.Series(drafts.turn)
        columns: dict[str, pl.Series | np.ndarray] = {
            "rep": pl.Series(drafts.rep + self.first, dtype=pl.Int32),
            "t": drafts.t / DAY,
            "writer": writer,
            "sequence": turn,
            "body": writer + " #" + turn.cast(pl.String),
            "confidence": drafts.stated,
            **{column.name: column.gather(fact) for column in self._facts},
            **{column.name: column.gather(said) for column in self._said},
            **{column.name: column.gather(drafts.form) for column in self._forms},
            "edges": self._edges(drafts, memory),
        }
        constant = self._constant
        return framed({n: columns[n] if n in columns else constant[n].new_from_index(0, count) for n in schema.CLAIMS})

    def _edges(self, drafts: Drafts, memory: Memory) -> pl.Series:
        """Each claim's edges as a list, null where it has none."""
        if not len(drafts.claim):
            return self._constant["edges"].new_from_index(0, len(drafts))
        flat = framed(
            {
                "claim": drafts.claim,
                "relation": _RELATIONS.gather(drafts.relation),
                "target": memory.cells["handle"].gather(drafts.target),
                "weight": _NO_WEIGHT.new_from_index(0, len(drafts.claim)),
                "mutual": drafts.mutual,
            }
        )
        lists = flat.group_by("claim", maintain_order=True).agg(
            pl.struct("relation", "target", "weight", "mutual").alias("edges")
        )
        every = pl.Series("claim", np.arange(len(drafts)))
        return every.to_frame().join(lists, on="claim", how="left", maintain_order="left")["edges"]


_RELATIONS = pl.Series("relation", schema.RELATIONS)
_NO_WEIGHT = pl.Series("weight", [None], dtype=pl.Float64)
