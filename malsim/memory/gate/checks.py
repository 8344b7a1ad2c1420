"""Checks on the fields of a claim (`CHECKS`) and of an edge (`EDGE_CHECKS`).

A run that stores its claims as numbers, with a table of texts, has that table checked only once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from malsim.base.finite import FARTHEST
from malsim.memory import schema
from malsim.memory.gate.claims import Issue, Validated, rows_of_claims
from malsim.memory.gate.features import (
    PROGRAM,
    WORD_CODES,
    explode_edges,
    idle_sentence,
    is_unsourced,
    runs_nothing,
    with_features,
)
from malsim.memory.graph.frames import LazyRows
from malsim.memory.graph.texts import LONGEST, is_blank, is_handle, kind_in
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from malsim.memory.graph.arrays import Bools, Ints
    from malsim.memory.rules import Rules

Column = Any  # an array of numbers, bools or strings
NOT_BLANK = "must be text that is not blank"
LAST_REPLICATION = 1_000_000


class Check(NamedTuple):
    """Check of one field: the columns to read, a function that marks invalid rows, the field's path, and the error message.

    A word is read as its index in `schema.WORDS` (NONE if unknown), an absent number as NaN, and a number given as NaN as
    infinity. A path that ends in `[]` refers to the items of a list. An `optional` check passes where its first column is
    null.
    """

    reads: tuple[str, ...]
    wrong: Callable[..., Bools]
    path: str
    message: str | Callable[..., str]
    optional: bool = True


def faults(claims: LazyRows, edges: LazyRows, rules: Rules, before: Iterable[Issue] = ()) -> list[Issue]:
    """Return the first issue of each field of the claims and their edges. An issue in `before` takes precedence."""
    first = dict[tuple[int, str], str]()
    for claim, path, message in before:
        first.setdefault((claim, path), message)
    for check, rows in _failing(claims, all_checks(rules)):
        name = check.path.removesuffix("[]")
        for row, text in zip(rows, _messages(claims, check, rows), strict=True):
            paths = [check.path]
            if name != check.path:
                items = enumerate(claims.column(name)[row])
                paths = [f"{name}[{index}]" for index, item in items if _is_null_or_blank(item)]
            for path in paths:
                first.setdefault((row, path), text)
    for check, rows in _failing(edges, (*EDGE_CHECKS, _not_heavier(rules.edge_weight_max))) if edges.height else ():
        indices = zip(edges.column("claim")[rows].tolist(), edges.column("place")[rows].tolist(), strict=True)
        for (claim, index), text in zip(indices, _messages(edges, check, rows), strict=True):
            first.setdefault((claim, f"edges[{index}].{check.path}"), text)
    return [(*field, message) for field, message in first.items()]


def edge_issues(edges: LazyRows, rules: Rules) -> list[Issue]:
    """Return the problems of edges added without a claim, as (edge, path, message). The path is relative to the edge."""
    return [(claim, path.partition("].")[2], message) for claim, path, message in faults(_NO_CLAIMS, edges, rules)]


_NO_CLAIMS = LazyRows(0)


def are_covered(tables: Sequence[Iterable[str]], rules: Rules, *, programs: bool) -> bool:
    """Return whether the columns that each check reads are all in one table, so that tables can be checked separately."""
    by_name = (check for check in EDGE_CHECKS if "target" in check.reads and check is not _NAMES_A_CELL)
    applied = (check for check in all_checks(rules) if programs or check is not IDLE_PROGRAM)
    return all(any({*check.reads} <= set(table) for table in tables) for check in applied) and not any(by_name)


def _failing(rows: LazyRows, checks: Iterable[Check]) -> Iterator[tuple[Check, list[int]]]:
    if not rows.height:
        return
    for check in checks:
        if check.optional and check.reads[0] in rows.blank:
            continue
        wrong = check.wrong(*(_read(rows, name) for name in check.reads))
        if wrong is not PASSES and wrong.any():
            yield check, np.flatnonzero(wrong).tolist()


PASSES = np.zeros(1, dtype=bool)  # mask returned if every value passes the check


def _read(rows: LazyRows, name: str) -> Column:
    values = rows.column(f"{name}_word" if name in schema.WORDS else name)
    if values.dtype == np.float64 and np.isnan(values).any():
        return np.where(np.isnan(values) & rows.as_series(name).is_not_null().to_numpy(), np.inf, values)
    return values


def _messages(rows: LazyRows, check: Check, failing: list[int]) -> list[str]:
    if isinstance(check.message, str):
        return [check.message] * len(failing)
    return [check.message(body) for body in rows.column("body")[failing].tolist()]


def _is_null_or_blank(text: str | None) -> bool:
    return text is None or is_blank(text)


def _mask(is_wrong: Callable[[Any], bool], texts: Column) -> Bools:
    """Return a mask of the strings for which `is_wrong` is true. The function is called once per distinct string."""
    values = texts.tolist()
    wrong = {text for text in {*values} if is_wrong(text)}
    return np.array([text in wrong for text in values]) if wrong else PASSES


def _text(name: str, is_wrong: Callable[[str], bool], message: str) -> Check:
    return Check((name,), partial(_mask, lambda text: text is not None and is_wrong(text)), name, message)


_missing_or_blank = partial(_mask, _is_null_or_blank)


def _of_other_kind(handles: Column, kinds: Ints) -> Bools:
    words = zip(handles.tolist(), kinds.tolist(), strict=True)
    pairs = ((handle and kind_in(handle), kind) for handle, kind in words)
    return np.array([word is not None and (kind == NONE or word != schema.KINDS[kind]) for word, kind in pairs])


def _claim_checks() -> list[Check]:
    kinds = f"must be one of {', '.join(schema.KINDS)}"
    bounds = "must be a number above 0 and at most 1"
    return [
        Check(("kind",), lambda kind: kind == NONE, "kind", kinds, optional=False),
        Check(("title",), _missing_or_blank, "title", NOT_BLANK, optional=False),
        Check(("body",), partial(_mask, lambda text: text is None), "body", "must be text; it may be empty", optional=False),
        Check(("confidence",), lambda share: ~((share > 0.0) & (share <= 1.0)), "confidence", bounds, optional=False),
        Check(("writer",), _missing_or_blank, "writer", NOT_BLANK, optional=False),
        Check(("rep",), lambda rep: (rep < 0) | (rep > LAST_REPLICATION), "rep", f"must be from 0 to {LAST_REPLICATION}"),
        Check(("t",), np.isinf, "t", "must be a finite number of days"),
        Check(("t",), lambda t: np.abs(t) > FARTHEST, "t", f"must lie within {FARTHEST:g} days of day 0"),
        _text("handle", lambda text: not is_handle(text), f"must read like obs_a1b2, with at most {LONGEST} letters"),
        Check(("handle", "kind"), _of_other_kind, "handle", "must begin with the claim's kind"),
        _text("key", is_blank, NOT_BLANK),
        *(Check((name,), lambda share: (share < 0.0) | (share > 1.0), name, "must be a number from 0 to 1")
          for name in ("uncertainty", "concern")),
        *(Check((name,), np.isinf, name, "must be a finite number")
          for name in ("value", "valid_from", "valid_to", "expires", "reverify")),
        Check(("valid_to", "valid_from", "t"), lambda end, start, t: np.where(np.isnan(start), t, start) >= end,
              "valid_to", "must come after valid_from, or t"),
        _text("value_text", is_blank, NOT_BLANK),
        *(Check((name,), lambda codes: codes == NONE, name, f"must be one of {', '.join(words)}")
          for name, words in schema.WORDS.items() if name != "kind"),
        *(Check((name,), lambda lists: np.array([any(map(_is_null_or_blank, items or ())) for items in lists.tolist()]),
                f"{name}[]", NOT_BLANK)
          for name in ("topics", "entities", "source_refs")),
    ]  # fmt: skip


_SIGNS = np.sign([*schema.WEIGHTS.values(), np.nan])  # the last entry is the sign for the code NONE (-1)
_NAMES_A_CELL = Check(("target",), _missing_or_blank, "target", "must name a cell", optional=False)
EDGE_CHECKS = [
    Check(("code",), lambda code: code == NONE, "relation", f"must be one of {', '.join(schema.RELATIONS)}"),
    _NAMES_A_CELL,
    Check(("code", "weight"), lambda code, weight: (code != NONE) & np.isnan(weight) | np.isinf(weight),
          "weight", "must be a finite number"),
    Check(("code", "weight"), lambda code, weight: (code != NONE) & (np.sign(weight) != _SIGNS[code]),
          "weight", "must be above 0 for supports, below 0 for contradicts and concerns, 0 for the others"),
]  # fmt: skip


@cache
def _not_heavier(most: float) -> Check:
    return Check(("weight",), lambda weight: np.abs(weight) > most, "weight", f"must be at most {most:g} in size")


IDLE_PROGRAM = Check(("kind", "body", "origin"), runs_nothing, "body", idle_sentence)
CHECKS = _claim_checks()
PUBLISHED = tuple(CHECKS)
"""Checks of every claim; those of numbers and of the body are also bounds for the claims that a run draws."""


def idle_programs(cells: pl.DataFrame, rules: Rules) -> dict[str, tuple[str, str]]:
    """Map the handle of each program cell that runs nothing to its key and an error message that shows a valid program."""
    if rules.idle_programs == "accepted":
        return {}
    programs = cells.filter(pl.col("kind").cast(pl.String) == "prg")
    words = programs.select("handle", "key", "body", pl.col("origin").cast(pl.String)).rows()
    kinds, origins = np.full(len(words), PROGRAM), np.array([WORD_CODES["origin"].get(row[3], 0) for row in words])
    idle = runs_nothing(kinds, programs["body"].to_numpy(), origins).tolist()
    return {row[0]: (row[1], idle_sentence(row[2])) for row, is_idle in zip(words, idle, strict=True) if is_idle}


def all_checks(rules: Rules) -> tuple[Check, ...]:
    idle = () if rules.idle_programs == "accepted" else (IDLE_PROGRAM,)
    return (*CHECKS, *idle, *_policy(rules.sources, rules.sure_above, rules.banned))


@cache
def _policy(sources: str, sure_above: float, banned: str) -> tuple[Check, ...]:
    """Return the checks of a project's own rules: missing sources, unverified high confidence, and banned words."""
    checks = []
    if sources == "required":
        checks.append(Check(("source_refs",), is_unsourced, "source_refs", "must name a source", optional=False))
    if sure_above < 1.0:
        unverified = schema.VERIFICATION.index("unverified")
        checks.append(Check(
            ("confidence", "verification"), lambda share, verification: (share > sure_above) & (verification == unverified),
            "confidence", f"above {sure_above:g} must be verified",
        ))  # fmt: skip
    for word in banned.split():
        search, message = re.compile(rf"(?i)(^|\W){re.escape(word)}(\W|$)").search, f"contains the banned word {word!r}"
        checks += [_text(name, partial(_is_found, search), message) for name in ("title", "body", "summary")]
    return tuple(checks)


def _is_found(search: Callable[[str], object], text: str) -> bool:
    return search(text) is not None


def validate(claims: pl.DataFrame | LazyRows, rules: Rules) -> Validated:
    """Check every field of every claim (columns of `schema.CLAIMS`) against its bounds and its allowed words."""
    read = claims if isinstance(claims, LazyRows) else rows_of_claims(claims)
    rows = with_features(read)
    edges = explode_edges(read, rules)
    unread = [
        (claim, issue["path"], issue["message"])
        for claim, issues in enumerate(read.column("issues").tolist())
        for issue in issues or ()
    ]
    return Validated(rows, edges, faults(rows, edges, rules, unread))
