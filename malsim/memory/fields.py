"""What may stand in each field of a claim and of an edge, and all that is wrong where something else does."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from malsim.memory import schema
from malsim.memory.handles import LONGEST, is_handle, kind_of
from malsim.memory.wording import worded

if TYPE_CHECKING:
    from malsim.memory.rules import Rules

__all__ = ["LAST_REPLICATION", "NO_ISSUES", "edge_issues", "faults"]

NO_ISSUES = pl.DataFrame(schema={"claim": pl.UInt32, "path": pl.String, "message": pl.String})


def faults(claims: pl.DataFrame, edges: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """What is wrong with numbered claims and with their edges, the first thing of each field: claim, path, message."""
    found = [*_failures(claims, _claim_checks()), *_failures(edges, _edge_checks(rules.edge_weight_max))]
    return pl.concat(found).unique(["claim", "path"], keep="first", maintain_order=True) if found else NO_ISSUES


def edge_issues(edges: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """What is wrong with edges written on their own: claim, path, message; paths have no `edges[i]` before them."""
    found = pl.concat([NO_ISSUES, *_failures(edges, _edge_checks(rules.edge_weight_max))])
    return found.with_columns(pl.col("path").str.replace(r"^edges\[\d+\]\.", ""))


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
LAST_REPLICATION = 1_000_000


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
        Check.of(~pl.col("rep").is_between(0, LAST_REPLICATION), "rep", f"must be from 0 to {LAST_REPLICATION}"),
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
