"""The gate's first step: everything that is wrong with every claim, all at once, each with its path."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory import schema
from malsim.memory.deferred import Deferred
from malsim.memory.fields import faults
from malsim.memory.frames import with_columns
from malsim.memory.handles import is_immutable, kind_of
from malsim.memory.schema import NONE
from malsim.memory.texts import content_of, folded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.memory.rules import Rules

__all__ = ["NO_NOTES", "Validated", "gather", "validate"]


@dataclass(frozen=True)
class Validated:
    """Claims with their features, their edges as a frame of their own, what is wrong and what is noted.

    `claims` (in numbers: `told`) has the columns of `schema.CLAIMS` but edges and issues, its own number (claim), and its
    features: folded (title), content (hash), marked (locked or immutable), backed (a source or a verification), and its
    words as enums. `edges` (in numbers: `linked`) has claim (row of claims), place (index within the claim), target, row
    (the cell it means; NONE where the name has to be looked up), weight, mutual, code (the relation's number, -1 unknown);
    `issues` has claim, path, message; `notes` has claim, note. The numbers may bring `author`, the rows that claims' writers
    are known to have (NONE where that is not known). Of `new` claims it is known that each says what no other of them and no
    cell does, and their contents are not looked at.
    """

    told: Deferred
    linked: Deferred
    issues: pl.DataFrame
    notes: pl.DataFrame
    new: bool = False

    def __len__(self) -> int:
        return self.told.height

    @property
    def claims(self) -> pl.DataFrame:
        """The claims in full."""
        return self.told.frame()

    @property
    def edges(self) -> pl.DataFrame:
        """Their edges in full."""
        return self.linked.frame()

    @classmethod
    def joined(cls, first: Validated, second: Validated) -> tuple[Validated, NDArray[np.integer[Any]]]:
        """Two batches as one, in the order in which the gate takes claims (time, writer, sequence); and that order."""
        names = first.claims.columns
        edges, issues, notes = (
            pl.concat([one, other.with_columns(pl.col("claim") + len(first)).select(one.columns)])
            for one, other in ((getattr(first, name), getattr(second, name)) for name in _OF_CLAIMS)
        )
        claims = pl.concat([first.claims, second.claims.select(names)])
        both = cls(Deferred.of(claims), Deferred.of(edges), issues, notes)
        sorted_by = pl.arg_sort_by("t", "writer", "sequence", nulls_last=True, maintain_order=True)
        order = both.claims.select(sorted_by).to_series().to_numpy().astype(np.int64)
        return both.rows(order), order

    def rows(self, order: NDArray[np.integer[Any]]) -> Validated:
        """The claims of these rows, in this order, each with its edges, issues and notes."""
        numbered = np.arange(len(order), dtype=np.uint32)
        claims = with_columns(self.claims[order], {"claim": numbered})
        now = pl.DataFrame([pl.Series("claim", order, dtype=pl.UInt32), pl.Series("now", numbered)])
        edges, issues, notes = (
            now.join(getattr(self, name), on="claim", maintain_order="left_right").drop("claim").rename({"now": "claim"})
            for name in _OF_CLAIMS
        )
        return Validated(Deferred.of(claims), Deferred.of(edges), issues, notes)


_OF_CLAIMS = ("edges", "issues", "notes")


def validate(claims: pl.DataFrame, rules: Rules) -> Validated:
    """Check every field of every claim (columns of `schema.CLAIMS`) against its bounds and words."""
    if claims["kind"].null_count():
        claims = claims.with_columns(pl.col("kind").fill_null(kind_of(pl.col("handle"))))
    numbered = claims.with_row_index("claim")
    edges = exploded(numbered, rules)
    issues = faults(numbered, edges, rules)
    held = [pl.col(name) for name in numbered.columns if name not in ("edges", "issues")]
    told = numbered.select(*held, *_features())
    return Validated(Deferred.of(told), Deferred.of(edges.drop("relation")), issues, NO_NOTES)


NO_NOTES = pl.DataFrame(schema={"claim": pl.UInt32, "note": pl.String})
_NO_EDGES = pl.DataFrame(
    schema={
        "claim": pl.UInt32, "place": pl.Int64, "relation": pl.String, "target": pl.String, "row": pl.Int64,
        "weight": pl.Float64, "mutual": pl.Boolean, "code": pl.Int8,
    }
)  # fmt: skip


@cache
def _features() -> list[pl.Expr]:
    title = folded(pl.col("title"))
    content = content_of(pl.col("kind"), title)
    marked = pl.col("locked") | is_immutable(pl.col("handle")).fill_null(value=False)
    backed = (pl.col("source_refs").list.len().fill_null(0) > 0) | pl.col("verification").is_in(
        ["checked", "tested", "external"]
    )
    words = [pl.col(name).cast(schema.CELLS[name], strict=False).alias(f"{name}_word") for name in schema.WORDS]
    return [title.alias("folded"), content.alias("content"), marked.alias("marked"), backed.alias("backed"), *words]


def exploded(numbered: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """The claims' edges, one row an edge, weights defaulted by relation."""
    lists = numbered["edges"]
    lengths = lists.list.len().fill_null(0).to_numpy()
    if not lengths.any():
        return _NO_EDGES
    claim = np.repeat(np.arange(len(lists)), lengths)
    place = np.arange(len(claim)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    flat = (lists if lengths.all() else lists.filter(pl.Series(lengths > 0))).explode().struct.unnest()
    return flat.select(
        pl.Series("claim", claim, dtype=pl.UInt32),
        pl.Series("place", place, dtype=pl.Int64),
        "relation",
        "target",
        pl.lit(NONE, pl.Int64).alias("row"),
        *_edge_defaults(tuple(rules.weights().values())),
    )


@cache
def _edge_defaults(weights: tuple[float, ...]) -> list[pl.Expr]:
    relation = pl.col("relation")
    by_relation = dict(zip(schema.RELATIONS, weights, strict=True))
    default = relation.replace_strict(by_relation, default=None, return_dtype=pl.Float64)
    codes = {name: code for code, name in enumerate(schema.RELATIONS)}
    return [
        pl.col("weight").fill_null(default),
        pl.col("mutual").fill_null(value=False),
        relation.replace_strict(codes, default=-1, return_dtype=pl.Int8).alias("code"),
    ]


def gather(issues: pl.DataFrame) -> pl.DataFrame:
    """One row a claim that has issues: claim, and its issues as a list of (path, message)."""
    return issues.group_by("claim", maintain_order=True).agg(pl.struct("path", "message").alias("issues"))
