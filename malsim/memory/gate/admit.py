"""Gate that validates, screens, attenuates, resolves and deduplicates claims, adds them as cells, and supersedes cells."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory import schema
from malsim.memory.gate import screen
from malsim.memory.gate.append import build
from malsim.memory.gate.batch import number
from malsim.memory.gate.checks import validate
from malsim.memory.gate.claims import Claims, Issue, Validated, read_claims
from malsim.memory.gate.resolution import NOTHING, first_dependent, replacements, resolve
from malsim.memory.gate.sequential import recompute
from malsim.memory.gate.verdicts import GateResult
from malsim.memory.graph.tombstones import digests_of, tombstones
from malsim.memory.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from malsim.memory.graph.claim_graph import Memory


_PUBLISHED = Rules()
LEAST_FACTOR = 0.5


@dataclass(frozen=True)
class Admission:
    """Memory after a batch, and its verdicts, which are built on demand. Unpacks as `memory, verdicts = admit(...)`."""

    memory: Memory
    make: Callable[[], pl.DataFrame] = field(repr=False)

    @cached_property
    def verdicts(self) -> pl.DataFrame:
        """Verdicts, one row per claim in gate order, with the columns of `schema.VERDICTS`."""
        return self.make()

    def __iter__(self) -> Iterator[Any]:
        yield self.memory
        yield self.verdicts


def admit(
    memory: Memory, claims: Claims, rules: Rules | None = None, *, factors: Mapping[str, float] | None = None
) -> Admission:
    """Pass claims through the gate in order of time, writer and sequence number.

    A batch has the same result as its claims passed one by one. A claim is admitted, deduplicated (an active cell states
    the same) or refused with the path of every issue. Stored claims are never lost. For a claim that the screen refuses,
    only the writer, the time, the field and the kind of finding are kept.

    Parameters
    ----------
    claims
        A frame with columns of `schema.CLAIMS` (at least writer, title, confidence, and handle or kind), or mappings.
    factors
        Calibration factors in [0.5, 1] by writer, used instead of the writers' records.
    """
    rules = rules or _PUBLISHED
    result = judge(memory, screened(validate(read_claims(claims), rules), rules), rules, factors=factors)
    return Admission(result.memory, lambda: result.verdicts)


def judge(memory: Memory, checked: Validated, rules: Rules, *, factors: Mapping[str, float] | None = None) -> GateResult:
    """Pass claims through the remaining steps of the gate. The claims must be validated, screened and in gate order."""
    factors = factors or {}
    if checked.claims.height and not np.isnan(memory.column("rejected")).all():
        checked = _unless_rejected(memory, checked, rules)
    checked = _capped(checked, rules)
    bad = {writer for writer, factor in factors.items() if not LEAST_FACTOR <= factor <= 1.0}
    if bad:
        message, writers = f"must be a finite number from {LEAST_FACTOR:g} to 1", checked.claims.column("writer").tolist()
        issues = [(claim, "calibration", message) for claim, writer in enumerate(writers) if writer in bad]
        checked = replace(checked, issues=[*checked.issues, *issues])
    if not checked.claims.height:
        return GateResult.between(memory, memory, pl.DataFrame(schema=schema.VERDICTS))
    parts, end = list[GateResult](), checked.claims.height
    while True:
        ahead = checked if end == checked.claims.height else checked.rows(np.arange(end))
        batch = number(memory, ahead, rules, factors)
        outcome = resolve(batch)
        demotions = replacements(memory, ahead, batch, outcome, rules) if batch.claim.size else NOTHING
        cut = first_dependent(memory, ahead, batch, outcome, demotions) if end > 1 else None
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
    """Refuse claims that contain a credential, and public claims that contain personal data.

    Under `screen = "flag"`, make such claims secret or private instead.
    """
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
    """Mark claims with a credential secret and those with personal data private, as the reference's newest gate does."""
    words, codes = checked.claims.column("sensitivity").copy(), checked.claims.column("sensitivity_word").copy()
    for word, findings in (("private", personal), ("secret", secrets)):
        for claim, _, _ in findings:
            words[claim], codes[claim] = word, schema.SENSITIVITY.index(word)
    claims = checked.claims.with_column("sensitivity", words).with_column("sensitivity_word", codes)
    notes = [(claim, f"screen: possible {kind} in {path}") for claim, path, kind in (*secrets, *personal)]
    return replace(checked, claims=claims, notes=[*checked.notes, *notes])


def _unless_rejected(memory: Memory, checked: Validated, rules: Rules) -> Validated:
    """Refuse every writer's claims of a value that a person rejected or erased, until the value is allowed again.

    Under `derived = "fall"` a claim derived from a rejected cell is refused too.
    """
    barred, facts = tombstones(memory), checked.claims.frame().select("claim", tombstone=digests_of("without value"))
    repeats = [claim for claim, digests in facts.rows() if barred & {*digests.split()}]
    issues = [(claim, "value", "was rejected or erased; nobody allowed it again") for claim in repeats]
    if rules.derived == "fall" and checked.edges.height:
        issues += _derived_from_rejected(memory, checked)
    return replace(checked, issues=[*checked.issues, *issues])


def _derived_from_rejected(memory: Memory, checked: Validated) -> list[Issue]:
    """Return an issue for each edge by which a claim derives from or depends on a cell that a person rejected or erased."""
    rejected = memory.cells.filter(pl.col("rejected").is_not_null()).select("rep", "handle", "key").rows()
    names = {(rep, name) for rep, handle, key in rejected for name in (handle, key)}
    reps = dict(checked.claims.frame().select("claim", "rep").rows())
    edges = checked.edges.frame().filter(pl.col("code").is_in([_DERIVED_FROM, _DEPENDS_ON]))
    return [
        (claim, f"edges[{index}].target", "was rejected or erased; leave out this edge")
        for claim, index, target in edges.select("claim", "place", "target").rows()
        if (reps[claim], target) in names
    ]


def _capped(checked: Validated, rules: Rules) -> Validated:
    """Cap the confidence of claims without support: `stated` holds the capped number, and `confidence` the writer's own."""
    confidence, backed = checked.claims.column("confidence"), checked.claims.column("backed").copy()
    code, weight = checked.edges.column("code"), checked.edges.column("weight")
    evidence = (code == _DERIVED_FROM) | ((code == _SUPPORTS) & (weight > 0))
    backed[checked.edges.column("claim")[evidence]] = True
    capped = ~backed & (confidence > rules.confidence_cap)
    if not capped.any():
        return checked
    return replace(checked, claims=checked.claims.with_column("stated", np.where(capped, rules.confidence_cap, confidence)))


_SUPPORTS, _DERIVED_FROM, _DEPENDS_ON = map(schema.RELATIONS.index, ("supports", "derived_from", "depends_on"))
