"""Checks of each field of a claim and of an edge, in one table that every claim passes.

A check is a row of `CHECKS` or `EDGE_CHECKS`. A run that holds claims as numbers beside a table of words has that table
checked once.
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
from malsim.memory.graph.handles import LONGEST, is_handle, kind_in
from malsim.memory.graph.texts import is_blank
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.memory.rules import Rules

Column = Any  # an array of numbers, truths or texts; a check says by `reads` what it is handed
NOT_BLANK = "must be text that is not blank"
LAST_REPLICATION = 1_000_000


class Check(NamedTuple):
    """Check of one field: the columns it reads, a function that marks the rows that fail, the field's path, the message.

    A word is read as its index in `schema.WORDS` (NONE for another word), an absent number is NaN, a number that was given
    as NaN is infinite. A path that ends in `[]` is of a list whose items are checked. `optional` checks pass where the first
    column that they read is null.
    """

    reads: tuple[str, ...]
    wrong: Callable[..., Bools]
    path: str
    message: str | Callable[..., str]
    optional: bool = True


def faults(claims: LazyRows, edges: LazyRows, rules: Rules, before: Iterable[Issue] = ()) -> list[Issue]:
    """Return what is wrong with claims and with their edges, the first fault of each field. Issues `before` come first."""
    first = dict[tuple[int, str], str]()
    for claim, path, message in before:
        first.setdefault((claim, path), message)
    for check, rows in _failing(claims, all_checks(rules)):
        texts = _messages(claims, check, rows)
        for row, text in zip(rows, texts, strict=True):
            for path in _items(claims, check.path[:-2], row) if check.path.endswith("[]") else (check.path,):
                first.setdefault((row, path), text)
    for check, rows in _failing(edges, (*EDGE_CHECKS, _not_heavier(rules.edge_weight_max))) if edges.height else ():
        indices = zip(edges.column("claim")[rows].tolist(), edges.column("place")[rows].tolist(), strict=True)
        for (claim, index), text in zip(indices, _messages(edges, check, rows), strict=True):
            first.setdefault((claim, f"edges[{index}].{check.path}"), text)
    return [(*field, message) for field, message in first.items()]


def edge_issues(edges: LazyRows, rules: Rules) -> list[Issue]:
    """Return the faults of edges written on their own: claim, path, message; paths have no `edges[i]` before them."""
    return [(claim, path.partition("].")[2], message) for claim, path, message in faults(_NO_CLAIMS, edges, rules)]


_NO_CLAIMS = LazyRows(0)


def are_covered(tables: Sequence[Iterable[str]], rules: Rules, *, programs: bool) -> bool:
    """Return whether each check of a claim reads columns of one of these tables, and no check of an edge a name."""
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


PASSES = np.zeros(1, dtype=bool)  # where no text fails


def _read(rows: LazyRows, name: str) -> Column:
    values = rows.column(f"{name}_word" if name in schema.WORDS else name)
    if values.dtype == np.float64 and np.isnan(values).any():
        return np.where(np.isnan(values) & rows.as_series(name).is_not_null().to_numpy(), np.inf, values)
    return values


def _messages(rows: LazyRows, check: Check, failing: list[int]) -> list[str]:
    if isinstance(check.message, str):
        return [check.message] * len(failing)
    columns = (rows.column(name)[failing].tolist() for name in ("body",))
    return [check.message(*texts) for texts in zip(*columns, strict=True)]


def _items(claims: LazyRows, name: str, row: int) -> list[str]:
    return [f"{name}[{index}]" for index, item in enumerate(claims.column(name)[row]) if _is_null_or_blank(item)]


def _is_null_or_blank(text: str | None) -> bool:
    return text is None or is_blank(text)


def _where(is_wrong: Callable[[str], bool], texts: Column) -> Bools:
    """Mark the texts that are wrong; each distinct one is looked at once."""
    values = texts.tolist()
    wrong = {text for text in {*values} if text is not None and is_wrong(text)}
    return np.array([text in wrong for text in values]) if wrong else PASSES


def _text(name: str, is_wrong: Callable[[str], bool], message: str) -> Check:
    return Check((name,), partial(_where, is_wrong), name, message)


def _missing_or_blank(texts: Column) -> Bools:
    wrong = {text for text in {*texts.tolist()} if _is_null_or_blank(text)}
    return np.array([text in wrong for text in texts.tolist()]) if wrong else PASSES


def _blank_items(lists: Column) -> Bools:
    return np.array([items is not None and any(map(_is_null_or_blank, items)) for items in lists.tolist()])


def _of_other_kind(handles: Column, kinds: Ints) -> Bools:
    words = zip(handles.tolist(), kinds.tolist(), strict=True)
    pairs = ((handle and kind_in(handle), kind) for handle, kind in words)
    return np.array([word is not None and (kind == NONE or word != schema.KINDS[kind]) for word, kind in pairs])


def _ends_before(valid_to: Array, valid_from: Array, t: Array) -> Bools:
    mask: Bools = np.where(np.isnan(valid_from), t, valid_from) >= valid_to
    return mask


def _claim_checks() -> list[Check]:
    kinds = f"must be one of {', '.join(schema.KINDS)}"
    bounds = "must be a number above 0 and at most 1"
    return [
        Check(("kind",), lambda kind: kind == NONE, "kind", kinds, optional=False),
        Check(("title",), _missing_or_blank, "title", NOT_BLANK, optional=False),
        Check(("body",), _missing, "body", "must be text; it may be empty", optional=False),
        Check(("confidence",), lambda share: ~((share > 0.0) & (share <= 1.0)), "confidence", bounds, optional=False),
        Check(("writer",), _missing_or_blank, "writer", NOT_BLANK, optional=False),
        Check(("rep",), lambda rep: (rep < 0) | (rep > LAST_REPLICATION), "rep", f"must be from 0 to {LAST_REPLICATION}"),
        Check(("t",), np.isinf, "t", "must be a finite number of days"),
        Check(("t",), lambda t: np.abs(t) > FARTHEST, "t", f"must lie within {FARTHEST:g} days of day 0"),
        _text("handle", _is_no_handle, f"must read like obs_a1b2, with at most {LONGEST} letters"),
        Check(("handle", "kind"), _of_other_kind, "handle", "must begin with the claim's kind"),
        _text("key", is_blank, NOT_BLANK),
        *(Check((name,), _outside, name, "must be a number from 0 to 1") for name in ("uncertainty", "concern")),
        *(
            Check((name,), np.isinf, name, "must be a finite number")
            for name in ("value", "valid_from", "valid_to", "expires", "reverify")
        ),
        Check(("valid_to", "valid_from", "t"), _ends_before, "valid_to", "must come after valid_from, or t"),
        _text("value_text", is_blank, NOT_BLANK),
        *(
            Check((name,), lambda codes: codes == NONE, name, f"must be one of {', '.join(words)}")
            for name, words in schema.WORDS.items()
            if name != "kind"
        ),
        *(Check((name,), _blank_items, f"{name}[]", NOT_BLANK) for name in ("topics", "entities", "source_refs")),
    ]


def _missing(texts: Column) -> Bools:
    return np.array([text is None for text in texts.tolist()])


def _is_no_handle(text: str) -> bool:
    return not is_handle(text)


def _outside(share: Array) -> Bools:
    mask: Bools = (share < 0.0) | (share > 1.0)
    return mask


_SIGNS = np.sign([*schema.WEIGHTS.values(), np.nan])  # the last for the code NONE


def _weight_is_infinite(code: Ints, weight: Array) -> Bools:
    mask: Bools = (code != NONE) & np.isnan(weight) | np.isinf(weight)
    return mask


def _sign_is_wrong(code: Ints, weight: Array) -> Bools:
    mask: Bools = (code != NONE) & (np.sign(weight) != _SIGNS[code])
    return mask


_NAMES_A_CELL = Check(("target",), _missing_or_blank, "target", "must name a cell", optional=False)
EDGE_CHECKS = [
    Check(("code",), lambda code: code == NONE, "relation", f"must be one of {', '.join(schema.RELATIONS)}"),
    _NAMES_A_CELL,
    Check(("code", "weight"), _weight_is_infinite, "weight", "must be a finite number"),
    Check(
        ("code", "weight"),
        _sign_is_wrong,
        "weight",
        "must be above 0 for supports, below 0 for contradicts and concerns, 0 for the others",
    ),
]


@cache
def _not_heavier(most: float) -> Check:
    return Check(("weight",), lambda weight: np.abs(weight) > most, "weight", f"must be at most {most:g} in size")


IDLE_PROGRAM = Check(("kind", "body", "origin"), runs_nothing, "body", idle_sentence)
CHECKS = _claim_checks()
PUBLISHED = tuple(CHECKS)
"""The checks of every claim, of which those of a number or a body are bounds that a run's own claims are compared with."""


def idle_programs(cells: pl.DataFrame, rules: Rules) -> dict[str, tuple[str, str]]:
    """Return handle, key and problem of the cells whose program runs nothing; the problem ends with a sentence that runs."""
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
    """Return checks of what a project's own rules refuse: no source, unverified high confidence, banned words."""
    checks = []
    if sources == "required":
        checks.append(Check(("source_refs",), is_unsourced, "source_refs", "must name a source", optional=False))
    if sure_above < 1.0:
        unverified = schema.VERIFICATION.index("unverified")
        message = f"above {sure_above:g} only for what is verified"
        bold = partial(_bold, sure_above, unverified)
        checks.append(Check(("confidence", "verification"), bold, "confidence", message))
    for word in banned.split():
        pattern = re.compile(rf"(?i)(^|\W){re.escape(word)}(\W|$)")
        checks += [
            _text(name, partial(_matches, pattern), f"holds the banned word {word!r}")
            for name in ("title", "body", "summary")
        ]
    return tuple(checks)


def _bold(sure_above: float, unverified: int, share: Array, verification: Ints) -> Bools:
    mask: Bools = (share > sure_above) & (verification == unverified)
    return mask


def _matches(pattern: re.Pattern[str], text: str) -> bool:
    return pattern.search(text) is not None


def validate(claims: pl.DataFrame | LazyRows, rules: Rules) -> Validated:
    """Check every field of every claim (columns of `schema.CLAIMS`) against its bounds and words."""
    read = claims if isinstance(claims, LazyRows) else rows_of_claims(claims)
    rows = with_features(read)
    edges = explode_edges(read, rules)
    unread = [
        (claim, issue["path"], issue["message"])
        for claim, issues in enumerate(read.column("issues").tolist())
        for issue in issues or ()
    ]
    return Validated(rows, edges, faults(rows, edges, rules, unread))
