"""The gate's first step: everything that is wrong with every claim, all at once, each with its path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from malsim.memory import schema
from malsim.memory.handles import LONGEST, is_handle, kind_of

if TYPE_CHECKING:
    from malsim.memory.rules import Rules

__all__ = ["Validated", "edge_issues", "gather", "issue_frame", "validate"]


@dataclass(frozen=True)
class Validated:
    """Claims with defaults filled in, their edges as a frame of their own, and what is wrong, one row an issue.

    `edges` has claim (row of claims), place (index within the claim), relation, target, weight, mutual;
    `issues` has claim, path, message.
    """

    claims: pl.DataFrame
    edges: pl.DataFrame
    issues: pl.DataFrame


def validate(claims: pl.DataFrame, rules: Rules) -> Validated:
    """Check every field of every claim (columns of `schema.CLAIMS`) against its bounds and words."""
    numbered = claims.with_columns(pl.col("kind").fill_null(kind_of(pl.col("handle")))).with_row_index("claim")
    edges = exploded(numbered)
    found = [
        _unread(numbered),
        *_failures(numbered, _claim_checks()),
        *(_list_failures(numbered, name) for name in ("topics", "entities", "source_refs")),
        *_failures(edges, _edge_checks(rules)),
    ]
    issues = pl.concat([part for part in found if part.height] or [issue_frame()])
    return Validated(numbered, edges, issues.unique(["claim", "path"], keep="first", maintain_order=True))


def exploded(numbered: pl.DataFrame) -> pl.DataFrame:
    """The claims' edges, one row an edge, weights defaulted by relation."""
    held = numbered.lazy().filter(pl.col("edges").list.len() > 0).select("claim", "edges")
    places = pl.int_ranges(pl.col("edges").list.len(), dtype=pl.Int64).alias("place")
    default = pl.col("relation").replace_strict(schema.WEIGHTS, default=None, return_dtype=pl.Float64)
    return (
        held.with_columns(places)
        .explode("edges", "place")
        .unnest("edges")
        .with_columns(pl.col("weight").fill_null(default), pl.col("mutual").fill_null(value=False))
        .collect()
    )


def edge_issues(edges: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """What is wrong with edges written on their own: claim, path, message; paths have no `edges[i]` before them."""
    found = pl.concat([issue_frame(), *_failures(edges, _edge_checks(rules))])
    return found.with_columns(pl.col("path").str.replace(r"^edges\[\d+\]\.", ""))


def issue_frame() -> pl.DataFrame:
    """No issue at all."""
    return pl.DataFrame(schema={"claim": pl.UInt32, "path": pl.String, "message": pl.String})


def gather(issues: pl.DataFrame) -> pl.DataFrame:
    """One row a claim that has issues: claim, and its issues as a list of (path, message)."""
    return issues.group_by("claim", maintain_order=True).agg(pl.struct("path", "message").alias("issues"))


Check = tuple[pl.Expr, pl.Expr, str]


def _is_blank(name: str) -> pl.Expr:
    return pl.col(name).str.strip_chars() == ""


def _outside(name: str) -> pl.Expr:
    return ~pl.col(name).is_between(0.0, 1.0)


def _infinite(name: str) -> pl.Expr:
    return ~pl.col(name).is_finite()


def _claim_checks() -> list[Check]:
    """(what is wrong, path, message); null means absent, so a check that yields null passes."""
    confidence = pl.col("confidence")
    required = [
        (~pl.col("kind").is_in(schema.KINDS).fill_null(value=False), "kind", f"must be one of {', '.join(schema.KINDS)}"),
        (pl.col("title").is_null() | _is_blank("title"), "title", "must be text that is not blank"),
        (pl.col("body").is_null(), "body", "must be text; it may be empty"),
        (confidence.is_null() | confidence.is_nan() | (confidence <= 0) | (confidence > 1), "confidence",
         "must be a number above 0 and at most 1"),
        (pl.col("writer").is_null() | _is_blank("writer"), "writer", "must be text that is not blank"),
        (pl.col("rep") < 0, "rep", "must be 0 or more"),
        (_infinite("t"), "t", "must be a finite number of days"),
    ]  # fmt: skip
    optional = [
        (~is_handle(pl.col("handle")), "handle", f"must read like obs_a1b2, with at most {LONGEST} letters"),
        (kind_of(pl.col("handle")) != pl.col("kind"), "handle", "must begin with the claim's kind"),
        (_is_blank("key"), "key", "must be text that is not blank"),
        *((_outside(name), name, "must be a number from 0 to 1") for name in ("uncertainty", "concern")),
        *((_infinite(name), name, "must be a finite number") for name in ("value", "expires", "reverify")),
        *((~pl.col(name).is_in(words), name, f"must be one of {', '.join(words)}")
          for name, words in schema.WORDS.items() if name != "kind"),
    ]  # fmt: skip
    return [(wrong, pl.lit(path), message) for wrong, path, message in required + optional]


def _edge_checks(rules: Rules) -> list[Check]:
    """Rules of one edge; the sign of a weight is checked only where the relation is known."""
    path, weight, relation = pl.format("edges[{}]", "place"), pl.col("weight"), pl.col("relation")
    default = relation.replace_strict(schema.WEIGHTS, default=None, return_dtype=pl.Float64)
    known = relation.is_in(schema.RELATIONS)
    return [
        (~known.fill_null(value=False), path + ".relation", f"must be one of {', '.join(schema.RELATIONS)}"),
        (pl.col("target").is_null() | _is_blank("target"), path + ".target", "must name a cell"),
        (known & weight.is_nan() | weight.is_infinite(), path + ".weight", "must be a finite number"),
        (known & (weight.sign() != default.sign()), path + ".weight",
         "must be above 0 for supports, below 0 for contradicts and concerns, 0 for the others"),
        (weight.abs() > rules.edge_weight_max, path + ".weight", f"must be at most {rules.edge_weight_max:g} in size"),
    ]  # fmt: skip


def _failures(frame: pl.DataFrame, checks: list[Check]) -> list[pl.DataFrame]:
    if frame.is_empty():
        return []
    flags = frame.select([wrong.any().alias(str(i)) for i, (wrong, _, _) in enumerate(checks)]).row(0)
    return [
        frame.filter(wrong).select("claim", path.alias("path"), pl.lit(message).alias("message"))
        for (wrong, path, message), failed in zip(checks, flags, strict=True)
        if failed
    ]


def _list_failures(claims: pl.DataFrame, name: str) -> pl.DataFrame:
    held = claims.select("claim", name).filter(pl.col(name).list.len() > 0)
    if held.is_empty():
        return issue_frame()
    items = held.with_columns(pl.int_ranges(pl.col(name).list.len()).alias("place")).explode(name, "place")
    wrong = pl.col(name).is_null() | _is_blank(name)
    path = pl.format(name + "[{}]", "place")
    return items.filter(wrong).select("claim", path.alias("path"), pl.lit("must be text that is not blank").alias("message"))


def _unread(claims: pl.DataFrame) -> pl.DataFrame:
    """What claims.from_mappings could not read."""
    held = claims.select("claim", "issues").filter(pl.col("issues").list.len() > 0)
    return held.explode("issues").unnest("issues") if held.height else issue_frame()
