"""The gate: validate, screen, attenuate, resolve, dedup, build, supersede; a verdict for every claim."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
import polars as pl

from malsim.memory import schema
from malsim.memory.gate import screen
from malsim.memory.gate.append import build
from malsim.memory.gate.checks import validate
from malsim.memory.gate.claims import Claims, Issue, Validated, read_claims
from malsim.memory.gate.numbering import number
from malsim.memory.gate.resolve import NOTHING, first_doubt, replacements, resolve
from malsim.memory.gate.sequential import recompute
from malsim.memory.gate.verdicts import GateResult
from malsim.memory.graph.tombstones import digests_claimed, tombstones
from malsim.memory.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from malsim.memory.graph.claim_graph import Memory


_PUBLISHED = Rules()


class Admission(tuple["Memory", pl.DataFrame]):
    """Memory after a batch, and one verdict per claim (columns of `schema.VERDICTS`), in the order of the gate.

    The frame of verdicts is made on demand.
    """

    __slots__ = ()

    def __new__(cls, memory: Memory, verdicts: pl.DataFrame | Callable[[], pl.DataFrame]) -> Self:
        parts: tuple[Any, Any] = memory, verdicts
        return super().__new__(cls, parts)

    @property
    def memory(self) -> Memory:
        """Memory after the batch."""
        memory: Memory = cast("Any", super().__getitem__(0))
        return memory

    @property
    def verdicts(self) -> pl.DataFrame:
        """Verdicts, one row per claim (columns of `schema.VERDICTS`)."""
        verdicts: Any = super().__getitem__(1)
        frame: pl.DataFrame = verdicts() if callable(verdicts) else verdicts
        return frame

    def __iter__(self) -> Iterator[Any]:
        return iter((self.memory, self.verdicts))

    def __getitem__(self, place: Any) -> Any:
        return (self.memory, self.verdicts)[place]

    def __reduce__(self) -> tuple[type[Admission], tuple[Memory, pl.DataFrame]]:
        return Admission, (self.memory, self.verdicts)


def admit(
    memory: Memory, claims: Claims, rules: Rules | None = None, *, factors: Mapping[str, float] | None = None
) -> Admission:
    """Take claims through the gate, in the order of time, writer and sequence.

    A batch equals its claims one by one. A claim is admitted, deduplicated (an active cell says the same) or refused with
    every issue and its path; what was stored before stands whatever comes. Of a claim refused by the screen only writer,
    time, field and kind of finding are kept.

    Parameters
    ----------
    claims
        A frame with columns of `schema.CLAIMS` (at least writer, title, confidence, and handle or kind), or mappings.
    factors
        Calibration factors in [0.5, 1] by writer that stand in for the writers' own records.
    """
    rules = rules or _PUBLISHED
    result = judge(memory, screened(validate(read_claims(claims), rules), rules), rules, factors=factors)
    return Admission(result.memory, lambda: result.verdicts)


def judge(memory: Memory, checked: Validated, rules: Rules, *, factors: Mapping[str, float] | None = None) -> GateResult:
    """Take claims that were validated and screened, and stand in the order of the gate, through the rest of it."""
    factors = factors or {}
    if checked.claims.height and not np.isnan(memory.column("rejected")).all():
        checked = _unless_rejected(memory, checked, rules)
    checked = _capped(checked, rules)
    if factors:
        checked = replace(checked, issues=[*checked.issues, *_impossible(checked, factors)])
    if not checked.claims.height:
        return GateResult.between(memory, memory, pl.DataFrame(schema=schema.VERDICTS))
    parts, end = list[GateResult](), checked.claims.height
    while True:
        ahead = checked if end == checked.claims.height else checked.rows(np.arange(end))
        batch = number(memory, ahead, rules, factors)
        outcome = resolve(batch)
        demotions = replacements(memory, ahead, batch, outcome, rules) if batch.claim.size else NOTHING
        cut = first_doubt(memory, ahead, batch, outcome, demotions) if end > 1 else None
        if cut is not None:
            end = cut
            continue
        result = build(memory, ahead, batch, outcome, demotions, rules)
        if rules.recompute == "admit":
            result = recompute(result, outcome, factors, rules)
        parts.append(GateResult.of(ahead, batch, outcome, result))
        if end == checked.claims.height:
            break
        memory, checked = result.memory, checked.rows(np.arange(end, checked.claims.height))
        end = checked.claims.height
    return GateResult.concat(parts) if len(parts) > 1 else parts[0]


def screened(checked: Validated, rules: Rules) -> Validated:
    """Refuse claims that hold a credential, or personal data in a public write; or, under `flag`, mark them."""
    secrets = screen.secrets(checked.claims, checked.edges, rules).rows()
    is_public = (checked.claims.column("sensitivity_word") == _PUBLIC).any()
    personal = screen.personal(checked.claims, rules).rows() if is_public else []
    if not secrets and not personal:
        return checked
    if rules.screen == "flag":
        return _flagged(checked, secrets, personal)
    findings = [(claim, path, f"screen: possible {kind}") for claim, path, kind in secrets]
    findings += [(claim, path, f"screen: public write may expose {kind}") for claim, path, kind in personal]
    rows, in_writer = {claim for claim, _, _ in findings}, {claim for claim, path, _ in findings if path == "writer"}
    claims = checked.claims
    for name, hidden in (*((name, rows) for name in _WITHHELD), ("writer", in_writer)):
        texts = claims.column(name).copy()
        texts[[*hidden]] = None
        claims = claims.with_column(name, texts)
    last = dict[tuple[int, str], str]()
    for claim, path, message in (*checked.issues, *findings):
        last.pop((claim, path), None)
        last[claim, path] = message
    return replace(checked, claims=claims, issues=[(*field, message) for field, message in last.items()])


_PUBLIC = schema.SENSITIVITY.index("public")
_WITHHELD = ("handle", "key", "object", "title", "body", "value_text")


def _flagged(checked: Validated, secrets: list[Any], personal: list[Any]) -> Validated:
    """Lower the sensitivity of claims with a finding instead of refusing them, as the reference's newest gate does."""
    words, codes = checked.claims.column("sensitivity").copy(), checked.claims.column("sensitivity_word").copy()
    for word, findings in (("private", personal), ("secret", secrets)):
        for claim, _, _ in findings:
            words[claim], codes[claim] = word, schema.SENSITIVITY.index(word)
    claims = checked.claims.with_column("sensitivity", words).with_column("sensitivity_word", codes)
    notes = [(claim, f"screen: possible {kind} in {path}") for claim, path, kind in (*secrets, *personal)]
    return replace(checked, claims=claims, notes=[*checked.notes, *notes])


def _unless_rejected(memory: Memory, checked: Validated, rules: Rules) -> Validated:
    """Refuse what a person rejected or erased, whoever says it, until it is allowed again.

    Under `derived = "fall"` a claim that is derived from a rejected cell is refused too.
    """
    barred, facts = tombstones(memory), checked.claims.frame().select("claim", tombstone=digests_claimed())
    again = [claim for claim, digests in facts.rows() if barred & {*digests.split()}]
    issues = [(claim, "value", "was rejected or erased; nobody allowed it again") for claim in again]
    if rules.derived == "fall" and checked.edges.height:
        issues += _derived_from_rejected(memory, checked)
    return replace(checked, issues=[*checked.issues, *issues])


def _derived_from_rejected(memory: Memory, checked: Validated) -> list[Issue]:
    """Return issues of the edges by which claims derive from, or depend on, cells that a person rejected or erased."""
    rejected = memory.cells.filter(pl.col("rejected").is_not_null())
    names = {(rep, name) for rep, *both in rejected.select("rep", "handle", "key").rows() for name in both}
    reps = dict(checked.claims.frame().select("claim", "rep").rows())
    edges = checked.edges.frame().filter(pl.col("code").is_in([_DERIVED_FROM, _DEPENDS_ON]))
    return [
        (claim, f"edges[{index}].target", "was rejected or erased; claim what else you know")
        for claim, index, target in edges.select("claim", "place", "target").rows()
        if (reps[claim], target) in names
    ]


def _capped(checked: Validated, rules: Rules) -> Validated:
    """Cap high confidence that nothing supports; the writer's number stays as `confidence`, the capped one is `stated`."""
    confidence, backed = checked.claims.column("confidence"), checked.claims.column("backed").copy()
    code, weight = checked.edges.column("code"), checked.edges.column("weight")
    evidence = (code == _DERIVED_FROM) | ((code == _SUPPORTS) & (weight > 0))
    backed[checked.edges.column("claim")[evidence]] = True
    capped = ~backed & (confidence > rules.confidence_cap)
    if not capped.any():
        return checked
    return replace(checked, claims=checked.claims.with_column("stated", np.where(capped, rules.confidence_cap, confidence)))


_SUPPORTS, _DERIVED_FROM, _DEPENDS_ON = map(schema.RELATIONS.index, ("supports", "derived_from", "depends_on"))


def _impossible(checked: Validated, factors: Mapping[str, float]) -> list[Issue]:
    bad = {writer for writer, factor in factors.items() if not LEAST_FACTOR <= factor <= 1.0}
    message, writers = f"must be a finite number from {LEAST_FACTOR:g} to 1", checked.claims.column("writer").tolist()
    return [(claim, "calibration", message) for claim, writer in enumerate(writers) if writer in bad]


LEAST_FACTOR = 0.5
