"""Checks of each field of a claim and of an edge: the one table of checks that every claim passes.

A check is a row of `CHECKS` or `EDGE_CHECKS`. A run that holds claims as numbers beside a table of words has that table
checked once, and asks `all_pass` about the rest of each claim.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import chain, count
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from malsim.base.finite import FARTHEST
from malsim.memory import schema
from malsim.memory.gate.claims import EDGES, Issue, Validated, explode_edges
from malsim.memory.graph.frames import FEW, LazyRows, format_expr
from malsim.memory.graph.handles import LONGEST, is_handle, is_immutable, kind_of
from malsim.memory.graph.texts import content_of, folded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from malsim.memory.rules import Rules

NO_CLAIMS = pl.DataFrame(schema=schema.CLAIMS)


def faults(claims: pl.DataFrame, edges: pl.DataFrame, rules: Rules) -> list[Issue]:
    """What is wrong with numbered claims and with their edges, the first thing of each field: claim, path, message."""
    issues = list[pl.DataFrame]()
    for frame, checks in ((claims, all_checks(rules)), (edges, [*EDGE_CHECKS, _not_heavier(rules.edge_weight_max)])):
        if frame.height:
            select = frame.select_seq if frame.height < FEW else frame.select  # one by one: sooner done of few rows
            flags = select(check.fails for check in checks).row(0)
            failing = (check for check, fails in zip(checks, flags, strict=True) if fails)
            issues += [_issues(frame.filter(check.wrong), check) for check in failing]
    first = dict[tuple[int, str], str]()
    for claim, path, message in chain.from_iterable(frame.rows() for frame in issues):
        first.setdefault((claim, path), message)
    return [(*field, message) for field, message in first.items()]


def edge_issues(edges: pl.DataFrame, rules: Rules) -> list[Issue]:
    """Return the faults of edges written on their own: claim, path, message; paths have no `edges[i]` before them."""
    return [(claim, path.partition("].")[2], message) for claim, path, message in faults(NO_CLAIMS, edges, rules)]


def all_pass(claims: pl.DataFrame, rules: Rules) -> bool:
    """Whether claims, of which only some columns are given, pass every check that reads no other column."""
    names = {*claims.columns}
    fails = [check.fails for check in all_checks(rules) if check.reads <= names]
    return claims.is_empty() or not any(claims.select_seq(fails).row(0))


def are_covered(tables: Sequence[Iterable[str]], rules: Rules, *, programs: bool) -> bool:
    """Return whether each check of a claim reads columns of one of these tables, and no check of an edge a name."""
    by_name = (check for check in EDGE_CHECKS if "target" in check.reads and check is not _NAMES_A_CELL)
    applied = (check for check in all_checks(rules) if programs or check is not IDLE_PROGRAM)
    return all(any(check.reads <= set(table) for table in tables) for check in applied) and not any(by_name)


_COUNT = count()  # of the checks, whose flags are columns of one frame


class Check(NamedTuple):
    """A rule of one field: where it fails, the path it names, what it says, whether it fails anywhere, what it reads."""

    wrong: pl.Expr
    path: pl.Expr
    message: str | pl.Expr
    fails: pl.Expr
    reads: frozenset[str]

    @classmethod
    def of(cls, wrong: pl.Expr, path: str | pl.Expr, message: str | pl.Expr) -> Check:
        """A null means absent, so a check that yields null passes."""
        path_expr = pl.lit(path) if isinstance(path, str) else path
        return cls(wrong, path_expr, message, wrong.any().alias(str(next(_COUNT))), frozenset(wrong.meta.root_names()))


def _is_blank(name: str) -> pl.Expr:
    return pl.col(name).str.strip_chars() == ""


def _outside(name: str) -> pl.Expr:
    return ~pl.col(name).is_between(0.0, 1.0)


def _infinite(name: str) -> pl.Expr:
    return ~pl.col(name).is_finite()


NOT_BLANK = "must be text that is not blank"
LAST_REPLICATION = 1_000_000


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
        Check.of(pl.col("t").abs() > FARTHEST, "t", f"must lie within {FARTHEST:g} days of day 0"),
        Check.of(~is_handle(pl.col("handle")), "handle", f"must read like obs_a1b2, with at most {LONGEST} letters"),
        Check.of(kind_of(pl.col("handle")) != pl.col("kind"), "handle", "must begin with the claim's kind"),
        Check.of(_is_blank("key"), "key", NOT_BLANK),
        *(Check.of(_outside(name), name, "must be a number from 0 to 1") for name in ("uncertainty", "concern")),
        *(
            Check.of(_infinite(name), name, "must be a finite number")
            for name in ("value", "valid_from", "valid_to", "expires", "reverify")
        ),
        Check.of(pl.coalesce("valid_from", "t") >= pl.col("valid_to"), "valid_to", "must come after valid_from, or t"),
        Check.of(_is_blank("value_text"), "value_text", NOT_BLANK),
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


def _on_edge(wrong: pl.Expr, field: str, message: str) -> Check:
    return Check.of(wrong, format_expr("edges[{}]", "place") + pl.lit(f".{field}"), message)


_NAMES_A_CELL = _on_edge(pl.col("target").is_null() | _is_blank("target"), "target", "must name a cell")


def _weight_checks() -> list[Check]:
    """Rules of one edge; the sign of a weight is checked only where the relation is known."""
    weight, relation = pl.col("weight"), pl.col("relation")
    default = relation.replace_strict(schema.WEIGHTS, default=None, return_dtype=pl.Float64)
    is_known = relation.is_in(schema.RELATIONS)
    signs = "must be above 0 for supports, below 0 for contradicts and concerns, 0 for the others"
    return [
        _on_edge(~is_known.fill_null(value=False), "relation", f"must be one of {', '.join(schema.RELATIONS)}"),
        _NAMES_A_CELL,
        _on_edge(is_known & weight.is_nan() | weight.is_infinite(), "weight", "must be a finite number"),
        _on_edge(is_known & (weight.sign() != default.sign()), "weight", signs),
    ]


PROGRAMS = ("watch", "drift", "quorum", "trend", "score", "reflex", "emit_witness", "tag_projection", "allocate")
"""The operations that a program cell can run."""


_NAMES = "|".join(PROGRAMS)
# A program of a netlist runs without its cell; the cell that it writes for its witnesses has this body.
_OF_NETLIST = (pl.col("origin").fill_null("llm") == "program") & pl.col("body").str.contains(
    rf"^stands on the tick and does (?:{_NAMES})$"
)


def _idle_sentence() -> pl.Expr:
    """Say the valid sentence nearest to what the body of a program names."""
    text = pl.coalesce("body", pl.lit(""))
    operation = text.str.extract(rf"(?i)\b({_NAMES})\b").str.to_lowercase().fill_null("watch")
    cell = text.str.extract(r"\b([A-Za-z]{3}_[0-9a-zA-Z_]+)\b").fill_null("HANDLE")
    return pl.format("this program runs nothing; the nearest valid sentence is: addf {} tick [keys: {}]", operation, cell)


def _idle_program() -> Check:
    """Refuse a program cell whose body schedules nothing."""
    body = pl.col("body")
    runs = body.str.contains(rf"(?m)^\s*addf\s+(?:{_NAMES})\s+\S+\s+.*\[") | body.str.contains(r"\[as: \S+\]")
    return Check.of((pl.col("kind") == "prg") & ~(runs | _OF_NETLIST), "body", IDLE_SENTENCE)


IDLE_SENTENCE = _idle_sentence()
IDLE_PROGRAM = _idle_program()
CHECKS = _claim_checks()
PUBLISHED = tuple(CHECKS)
"""The checks of every claim, of which those of a number or a body are bounds that a run's own claims are compared with."""
EDGE_CHECKS = _weight_checks()


def idle_programs(cells: pl.DataFrame, rules: Rules) -> dict[str, tuple[str, str]]:
    """Return handle, key and problem of the cells whose program runs nothing; the problem ends with a sentence that runs."""
    if rules.idle_programs == "accepted":
        return {}
    words = cells.with_columns(pl.col("kind", "origin").cast(pl.String))
    idle = words.filter(IDLE_PROGRAM.wrong.fill_null(value=False))
    return {handle: (key, problem) for handle, key, problem in idle.select("handle", "key", IDLE_SENTENCE).iter_rows()}


def all_checks(rules: Rules) -> tuple[Check, ...]:
    """The checks of a claim under these rules."""
    idle = () if rules.idle_programs == "accepted" else (IDLE_PROGRAM,)
    return (*CHECKS, *idle, *_policy(rules.sources, rules.sure_above, rules.banned))


@cache
def _policy(sources: str, sure_above: float, banned: str) -> tuple[Check, ...]:
    """What a project's own rules refuse at write: no source, much confidence that nobody verified, banned words."""
    checks = []
    if sources == "required":
        unsourced = pl.col("source_refs").list.len().fill_null(0) == 0
        checks.append(Check.of(unsourced, "source_refs", "must name a source"))
    if sure_above < 1.0:
        bold = (pl.col("confidence") > sure_above) & (pl.col("verification").fill_null("unverified") == "unverified")
        checks.append(Check.of(bold, "confidence", f"above {sure_above:g} only for what is verified"))
    for word in banned.split():
        pattern = rf"(?i)(^|\W){re.escape(word)}(\W|$)"
        checks += [
            Check.of(pl.col(name).str.contains(pattern), name, f"holds the banned word {word!r}")
            for name in ("title", "body", "summary")
        ]
    return tuple(checks)


@cache
def _not_heavier(most: float) -> Check:
    return _on_edge(pl.col("weight").abs() > most, "weight", f"must be at most {most:g} in size")


def _issues(failing: pl.DataFrame, check: Check) -> pl.DataFrame:
    path = failing.select(check.path).item(0, 0)
    if path == "issues":  # what claims.from_mappings could not read
        return failing.select("claim", "issues").explode("issues").unnest("issues")
    if path.endswith("[]"):
        return _item_issues(failing.select("claim", path[:-2]), path[:-2])
    message = pl.lit(check.message) if isinstance(check.message, str) else check.message
    return failing.select("claim", check.path.alias("path"), message.alias("message"))


def _item_issues(lists: pl.DataFrame, name: str) -> pl.DataFrame:
    items = lists.with_columns(pl.int_ranges(pl.col(name).list.len()).alias("place")).explode(name, "place")
    wrong = pl.col(name).is_null() | _is_blank(name)
    return items.filter(wrong).select(
        "claim", format_expr(name + "[{}]", "place").alias("path"), pl.lit(NOT_BLANK).alias("message")
    )


_KIND = pl.col("kind").fill_null(kind_of(pl.col("handle")))


def validate(claims: pl.DataFrame, rules: Rules) -> Validated:
    """Check every field of every claim (columns of `schema.CLAIMS`) against its bounds and words."""
    if claims["kind"].null_count():
        claims = claims.with_columns(_KIND)
    rows = claims.with_row_index("claim")
    has_edges = rows["edges"].null_count() < rows.height and (rows["edges"].list.len() > 0).any()
    edges = explode_edges(rows, rules) if has_edges else _NO_EDGES
    issues = faults(rows, edges, rules)
    columns = [pl.col(name) for name in rows.columns if name not in ("edges", "issues")]
    select = rows.select_seq if rows.height < FEW else rows.select
    features = select([*columns, *_features()])
    return Validated(LazyRows.of(features), LazyRows.of(edges.drop("relation")), issues)


_NO_EDGES = pl.DataFrame(schema=EDGES | {"relation": pl.String})


@cache
def _features() -> list[pl.Expr]:
    title = folded(pl.col("title"))
    content = content_of(pl.col("kind"), title)
    marked = pl.col("locked") | is_immutable(pl.col("handle")).fill_null(value=False)
    backed = (pl.col("source_refs").list.len().fill_null(0) > 0) | pl.col("verification").is_in(
        ["checked", "tested", "external"]
    )
    words = [pl.col(name).cast(schema.CELLS[name], strict=False).alias(f"{name}_word") for name in schema.WORDS]
    stated = pl.col("confidence").alias("stated")
    return [stated, title.alias("folded"), content.alias("content"), marked.alias("marked"), backed.alias("backed"), *words]
