"""The gate's first step: everything that is wrong with every claim, all at once, each with its path."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from malsim.memory import schema
from malsim.memory.frames import with_columns
from malsim.memory.handles import LONGEST, is_handle, is_immutable, kind_of
from malsim.memory.index import NONE
from malsim.memory.texts import content_of, folded
from malsim.memory.wording import worded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.memory.rules import Rules

__all__ = ["NO_ISSUES", "NO_NOTES", "Validated", "edge_issues", "faults", "gather", "validate"]


@dataclass(frozen=True)
class Validated:
    """Claims with their features, their edges as a frame of their own, what is wrong and what is noted.

    `claims` has the columns of `schema.CLAIMS` but edges and issues, its own number (claim), and its features: folded
    (title), content (hash), marked (locked or immutable), backed (a source or a verification), and its words as enums.
    `edges` has claim (row of claims), place (index within the claim), target, row (the cell it means; NONE where the name
    has to be looked up), weight, mutual, code (the relation's number, -1 unknown); `issues` has claim, path, message;
    `notes` has claim, note.
    """

    claims: pl.DataFrame
    edges: pl.DataFrame
    issues: pl.DataFrame
    notes: pl.DataFrame

    def __len__(self) -> int:
        return self.claims.height

    @classmethod
    def joined(cls, first: Validated, second: Validated) -> tuple[Validated, NDArray[np.integer[Any]]]:
        """Two batches as one, in the order in which the gate takes claims (time, writer, sequence); and that order."""
        names = first.claims.columns
        both = cls(
            pl.concat([first.claims, second.claims.select(names)]),
            *(
                pl.concat([one, other.with_columns(pl.col("claim") + len(first)).select(one.columns)])
                for one, other in ((getattr(first, name), getattr(second, name)) for name in _OF_CLAIMS)
            ),
        )
        sorted_by = pl.arg_sort_by("t", "writer", "sequence", nulls_last=True, maintain_order=True)
        order = both.claims.select(sorted_by).to_series().to_numpy().astype(np.int64)
        return both.rows(order), order

    def rows(self, order: NDArray[np.integer[Any]]) -> Validated:
        """The claims of these rows, in this order, each with its edges, issues and notes."""
        numbered = np.arange(len(order), dtype=np.uint32)
        claims = with_columns(self.claims[order], {"claim": numbered})
        now = pl.DataFrame([pl.Series("claim", order, dtype=pl.UInt32), pl.Series("now", numbered)])
        kept = (
            now.join(getattr(self, name), on="claim", maintain_order="left_right").drop("claim").rename({"now": "claim"})
            for name in _OF_CLAIMS
        )
        return Validated(claims, *kept)


_OF_CLAIMS = ("edges", "issues", "notes")


def validate(claims: pl.DataFrame, rules: Rules) -> Validated:
    """Check every field of every claim (columns of `schema.CLAIMS`) against its bounds and words."""
    if claims["kind"].null_count():
        claims = claims.with_columns(pl.col("kind").fill_null(kind_of(pl.col("handle"))))
    numbered = claims.with_row_index("claim")
    edges = exploded(numbered, rules)
    issues = faults(numbered, edges, rules)
    held = [pl.col(name) for name in numbered.columns if name not in ("edges", "issues")]
    return Validated(numbered.select(*held, *_features()), edges.drop("relation"), issues, NO_NOTES)


def faults(claims: pl.DataFrame, edges: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """What is wrong with numbered claims and with their edges, the first thing of each field: claim, path, message."""
    found = [*_failures(claims, _claim_checks()), *_failures(edges, _edge_checks(rules.edge_weight_max))]
    return pl.concat(found).unique(["claim", "path"], keep="first", maintain_order=True) if found else NO_ISSUES


NO_ISSUES = pl.DataFrame(schema={"claim": pl.UInt32, "path": pl.String, "message": pl.String})
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


def edge_issues(edges: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """What is wrong with edges written on their own: claim, path, message; paths have no `edges[i]` before them."""
    found = pl.concat([NO_ISSUES, *_failures(edges, _edge_checks(rules.edge_weight_max))])
    return found.with_columns(pl.col("path").str.replace(r"^edges\[\d+\]\.", ""))


def gather(issues: pl.DataFrame) -> pl.DataFrame:
    """One row a claim that has issues: claim, and its issues as a list of (path, message)."""
    return issues.group_by("claim", maintain_order=True).agg(pl.struct("path", "message").alias("issues"))


class Check(NamedTuple):
    """A rule of one field: where it fails, the path it names, what it says, and whether it fails anywhere."""

    wrong: pl.Expr
    path: pl.Expr
    message: str
    fails: pl.Expr

    @classmethod
    def of(cls, wrong: pl.Expr, path: str | pl.Expr, message: str) -> Check:
        """A null means absent, so a check that yields null passes."""
        return cls(wrong, pl.lit(path) if isinstance(path, str) else path, message, wrong.any())


def _is_blank(name: str) -> pl.Expr:
    return pl.col(name).str.strip_chars() == ""


def _outside(name: str) -> pl.Expr:
    return ~pl.col(name).is_between(0.0, 1.0)


def _infinite(name: str) -> pl.Expr:
    return ~pl.col(name).is_finite()


NOT_BLANK = "must be text that is not blank"
MOST_REPLICATIONS = 1_000_000


@cache
def _claim_checks() -> list[Check]:
    confidence = pl.col("confidence")
    kind_is_known = pl.col("kind").is_in(schema.KINDS).fill_null(value=False)
    blank_item = pl.element().is_null() | (pl.element().str.strip_chars() == "")
    return [
        Check.of(pl.col("issues").list.len() > 0, "issues", ""),
        Check.of(~kind_is_known, "kind", f"must be one of {', '.join(schema.KINDS)}"),
        Check.of(pl.col("title").is_null() | _is_blank("title"), "title", NOT_BLANK),
        Check.of(pl.col("body").is_null(), "body", "must be text; it may be empty"),
        Check.of(
            confidence.is_null() | confidence.is_nan() | (confidence <= 0) | (confidence > 1),
            "confidence",
            "must be a number above 0 and at most 1",
        ),
        Check.of(pl.col("writer").is_null() | _is_blank("writer"), "writer", NOT_BLANK),
        Check.of(~pl.col("rep").is_between(0, MOST_REPLICATIONS), "rep", f"must be from 0 to {MOST_REPLICATIONS}"),
        Check.of(_infinite("t"), "t", "must be a finite number of days"),
        Check.of(~is_handle(pl.col("handle")), "handle", f"must read like obs_a1b2, with at most {LONGEST} letters"),
        Check.of(kind_of(pl.col("handle")) != pl.col("kind"), "handle", "must begin with the claim's kind"),
        Check.of(_is_blank("key"), "key", NOT_BLANK),
        *(Check.of(_outside(name), name, "must be a number from 0 to 1") for name in ("uncertainty", "concern")),
        *(Check.of(_infinite(name), name, "must be a finite number") for name in ("value", "expires", "reverify")),
        *(
            Check.of(~pl.col(name).is_in(words), name, f"must be one of {', '.join(words)}")
            for name, words in schema.WORDS.items()
            if name != "kind"
        ),
        *(
            Check.of(pl.col(name).list.eval(blank_item).list.any(), f"{name}[]", NOT_BLANK)
            for name in ("topics", "entities", "source_refs")
        ),
    ]


@cache
def _edge_checks(weight_max: float) -> list[Check]:
    """Rules of one edge; the sign of a weight is checked only where the relation is known."""
    path, weight, relation = worded("edges[{}]", "place"), pl.col("weight"), pl.col("relation")
    default = relation.replace_strict(schema.WEIGHTS, default=None, return_dtype=pl.Float64)
    known = relation.is_in(schema.RELATIONS)
    signs = "must be above 0 for supports, below 0 for contradicts and concerns, 0 for the others"
    return [
        Check.of(~known.fill_null(value=False), path + pl.lit(".relation"), f"must be one of {', '.join(schema.RELATIONS)}"),
        Check.of(pl.col("target").is_null() | _is_blank("target"), path + pl.lit(".target"), "must name a cell"),
        Check.of(known & weight.is_nan() | weight.is_infinite(), path + pl.lit(".weight"), "must be a finite number"),
        Check.of(known & (weight.sign() != default.sign()), path + pl.lit(".weight"), signs),
        Check.of(weight.abs() > weight_max, path + pl.lit(".weight"), f"must be at most {weight_max:g} in size"),
    ]


def _failures(frame: pl.DataFrame, checks: list[Check]) -> list[pl.DataFrame]:
    """One frame of issues for each check that fails anywhere."""
    if frame.is_empty():
        return []
    flags = frame.select(check.fails.alias(str(i)) for i, check in enumerate(checks)).row(0)
    return [_issues(frame.filter(check.wrong), check) for check, failed in zip(checks, flags, strict=True) if failed]


def _issues(failing: pl.DataFrame, check: Check) -> pl.DataFrame:
    path = failing.select(check.path).item(0, 0)
    if path == "issues":  # what claims.from_mappings could not read
        return failing.select("claim", "issues").explode("issues").unnest("issues")
    if path.endswith("[]"):
        return _item_issues(failing.select("claim", path[:-2]), path[:-2])
    return failing.select("claim", check.path.alias("path"), pl.lit(check.message).alias("message"))


def _item_issues(held: pl.DataFrame, name: str) -> pl.DataFrame:
    items = held.with_columns(pl.int_ranges(pl.col(name).list.len()).alias("place")).explode(name, "place")
    wrong = pl.col(name).is_null() | _is_blank(name)
    return items.filter(wrong).select(
        "claim", worded(name + "[{}]", "place").alias("path"), pl.lit(NOT_BLANK).alias("message")
    )
