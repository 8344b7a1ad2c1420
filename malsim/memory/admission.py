"""The gate: validate, screen, attenuate, resolve, dedup, build, supersede; a verdict for every claim."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from malsim.memory import schema, screen
from malsim.memory.building import Built, build
from malsim.memory.claims import Claims, as_claims
from malsim.memory.corrections import replacements
from malsim.memory.doubts import first_doubt
from malsim.memory.frames import framed, places
from malsim.memory.index import NONE
from malsim.memory.numbering import Batch, Bools, Ints, authors_of, number
from malsim.memory.relations import REFUSALS, Outcome, resolve
from malsim.memory.rules import Rules
from malsim.memory.sequential import moved
from malsim.memory.validation import Validated, gather, validate
from malsim.memory.wording import worded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.memory.cells import Memory

__all__ = ["Admission", "Judgement", "admit", "judged", "screened"]


class Admission(NamedTuple):
    """The memory after a batch, and one verdict a claim (columns of `schema.VERDICTS`), in the order of the gate."""

    memory: Memory
    verdicts: pl.DataFrame


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
    rules = rules or Rules()
    said = judged(memory, screened(validate(as_claims(claims), rules), rules), rules, factors=factors)
    return Admission(said.memory, said.verdicts)


class Judgement(NamedTuple):
    """An admission, with the rows of the cells that the batch superseded, and which of its claims were noted on."""

    memory: Memory
    verdicts: pl.DataFrame
    superseded: Ints
    noted: Bools

    @classmethod
    def between(cls, before: Memory, after: Memory, verdicts: pl.DataFrame) -> Judgement:
        """What the verdicts and the memories before and after them tell."""
        gone = after.column("successor") != NONE
        gone[: before.cells.height] &= before.column("successor") == NONE
        noted = (verdicts["notes"].list.len() > 0).fill_null(value=False)
        return cls(after, verdicts, np.flatnonzero(gone), noted.to_numpy())


def judged(memory: Memory, checked: Validated, rules: Rules, *, factors: Mapping[str, float] | None = None) -> Judgement:
    """Take claims that were validated and screened, and stand in the order of the gate, through the rest of it."""
    factors = factors or {}
    checked = _capped(checked, rules)
    if factors:
        checked = replace(checked, issues=pl.concat([checked.issues, _impossible(checked.claims, factors)]))
    noted = np.zeros(len(checked), dtype=bool)
    noted[checked.notes["claim"].to_numpy()] = True
    memory, verdicts, superseded, cut = _judged(memory, checked, rules, factors)
    while cut is not None:
        checked = checked.rows(np.arange(cut, len(checked)))
        memory, more, gone, cut = _judged(memory, checked, rules, factors)
        verdicts, superseded = verdicts.vstack(more), np.append(superseded, gone)
    return Judgement(memory, verdicts.rechunk(), superseded, noted)


def _judged(
    memory: Memory, checked: Validated, rules: Rules, factors: Mapping[str, float]
) -> tuple[Memory, pl.DataFrame, Ints, int | None]:
    """Admit a batch up to the first claim that it cannot be sure of as a whole; the place of that claim, if there is one."""
    if not len(checked):
        return memory, pl.DataFrame(schema=schema.VERDICTS), np.zeros(0, dtype=np.int64), None
    authors = authors_of(memory, checked.claims, factors, rules)
    sound = np.ones(len(checked), dtype=bool)
    sound[checked.issues["claim"].to_numpy()] = False
    batch = number(memory, checked, sound, authors, rules)
    outcome = resolve(batch)
    replaced = replacements(memory, checked, batch, outcome, rules)
    cut = first_doubt(memory, checked, batch, outcome, replaced)
    if cut is not None:
        memory, verdicts, gone, sooner = _judged(memory, checked.rows(np.arange(cut)), rules, factors)
        return memory, verdicts, gone, cut if sooner is None else sooner
    built = build(memory, checked, batch, outcome, replaced, rules)
    if rules.recompute == "admit":
        built = moved(built, outcome, factors, rules)
    return built.memory, _verdicts(checked, outcome, built, _refused(outcome, checked, batch)), built.demoted[0], None


def screened(checked: Validated, rules: Rules) -> Validated:
    """Refuse claims that hold a credential, or personal data in a public write; or, under `flag`, mark them."""
    secrets = screen.secrets(checked.claims, checked.edges, rules)
    personal = screen.personal(checked.claims, rules)
    if secrets.is_empty() and personal.is_empty():
        return checked
    if rules.screen == "flag":
        return _flagged(checked, secrets, personal)
    said = pl.concat(
        found.select("claim", "path", worded(text, "finding").alias("message"))
        for found, text in ((secrets, "screen: possible {}"), (personal, "screen: public write may expose {}"))
    )
    withheld = pl.col("claim").is_in(said["claim"].unique().implode())
    blank = [pl.when(~withheld).then(pl.col(name)).alias(name) for name in ("handle", "key", "object", "title", "body")]
    in_writer = said.filter(pl.col("path") == "writer")["claim"].implode()
    writer = pl.when(~pl.col("claim").is_in(in_writer)).then(pl.col("writer")).alias("writer")
    issues = pl.concat([checked.issues, said]).unique(["claim", "path"], keep="last", maintain_order=True)
    return replace(checked, claims=checked.claims.with_columns(*blank, writer), issues=issues)


def _flagged(checked: Validated, secrets: pl.DataFrame, personal: pl.DataFrame) -> Validated:
    """The reference's newest gate: a finding lowers the sensitivity instead of refusing."""
    secret = pl.col("claim").is_in(secrets["claim"].unique().implode())
    exposed = pl.col("claim").is_in(personal["claim"].unique().implode()) & ~secret
    notes = [
        found.select("claim", worded("screen: possible {} in {}", "finding", "path").alias("note"))
        for found in (secrets, personal)
    ]
    lowered = pl.when(secret).then(pl.lit("secret")).when(exposed).then(pl.lit("private")).otherwise("sensitivity")
    word = lowered.cast(schema.CELLS["sensitivity"], strict=False)
    claims = checked.claims.with_columns(lowered.alias("sensitivity"), word.alias("sensitivity_word"))
    return replace(checked, claims=claims, notes=pl.concat([checked.notes, *notes]))


def _capped(checked: Validated, rules: Rules) -> Validated:
    """Cap high confidence that nothing supports; the writer's number stays as `confidence`, the capped one is `stated`."""
    confidence = checked.claims["confidence"].to_numpy()
    backed = checked.claims["backed"].to_numpy().copy()
    code, weight = checked.edges["code"].to_numpy(), checked.edges["weight"].to_numpy()
    evidence = (code == _DERIVED_FROM) | ((code == _SUPPORTS) & (weight > 0))
    backed[checked.edges["claim"].to_numpy()[evidence]] = True
    capped = ~backed & (confidence > rules.confidence_cap)
    stated = pl.Series("stated", np.where(capped, rules.confidence_cap, confidence))
    claims = checked.claims.hstack([stated])
    if not capped.any():
        return replace(checked, claims=claims)
    was, now = (part.filter(pl.Series(capped)).cast(pl.String) for part in (checked.claims["confidence"], stated))
    said = [f"confidence capped from {high} to {cap}: nothing supports it" for high, cap in zip(was, now, strict=True)]
    notes = framed({"claim": np.flatnonzero(capped).astype(np.uint32), "note": pl.Series(said, dtype=pl.String)})
    return replace(checked, claims=claims, notes=pl.concat([checked.notes, notes]) if checked.notes.height else notes)


_SUPPORTS, _DERIVED_FROM = (schema.RELATIONS.index(name) for name in ("supports", "derived_from"))


def _impossible(claims: pl.DataFrame, factors: Mapping[str, float]) -> pl.DataFrame:
    """Issues of claims whose writer was given a factor outside [0.5, 1]."""
    bad = [writer for writer, factor in factors.items() if not LEAST_FACTOR <= factor <= 1.0]
    said = pl.lit(f"must be a finite number from {LEAST_FACTOR:g} to 1").alias("message")
    return claims.filter(pl.col("writer").is_in(bad)).select("claim", pl.lit("calibration").alias("path"), said)


LEAST_FACTOR = 0.5


def _refused(outcome: Outcome, checked: Validated, batch: Batch) -> pl.DataFrame:
    """All issues of all refused claims, those of their relations included."""
    found = [checked.issues]
    path = worded("edges[{}].target", "place").alias("path")
    for kind, message in zip(outcome.refused, REFUSALS, strict=True):
        if kind.any():
            found.append(checked.edges.filter(pl.Series(kind)).select("claim", path, pl.lit(message).alias("message")))
    taken = outcome.name_taken & batch.sound
    if taken.any():
        claims = checked.claims.filter(pl.Series(taken))
        by_key = pl.col("key").is_not_null() & pl.col("handle").is_null()
        name = pl.when(by_key).then(pl.lit("key")).otherwise(pl.lit("handle")).alias("path")
        found.append(claims.select("claim", name, pl.lit("is taken by another cell").alias("message")))
    if len(found) == 1:
        return checked.issues
    first = pl.concat(found).unique(["claim", "path"], keep="first", maintain_order=True)
    return first.sort("claim", maintain_order=True)


def _verdicts(checked: Validated, outcome: Outcome, built: Built, issues: pl.DataFrame) -> pl.DataFrame:
    """One row a claim (columns of `schema.VERDICTS`)."""
    claims, cells = checked.claims, built.memory.cells
    verdict = np.where(outcome.created, 0, np.where(outcome.accepted, 1, 2))
    refused = pl.Series(built.row == NONE)
    row = places(np.maximum(built.row, 0))
    handle, cell = claims["handle"], pl.Series(built.row)
    if outcome.accepted.all():
        handle = cells["handle"][row]
    else:
        row, cell = row.set(refused, None), cell.set(refused, None)
        handle = handle.zip_with(refused, cells["handle"][row])
    columns = {
        **{name: claims[name] for name in ("rep", "t", "writer", "sequence")},
        "verdict": _VERDICTS[places(verdict)],
        "handle": handle,
        "cell": cell,
        "claimed": claims["confidence"],
        **{name: cells[name][row] for name in ("stated", "calibration", "effective")},
        "issues": _listed(issues, "issues", len(checked)),
        "notes": _listed(checked.notes, "notes", len(checked)),
    }
    return framed(columns)


_VERDICTS = pl.Series(schema.VERDICT, dtype=schema.VERDICTS["verdict"])


def _listed(found: pl.DataFrame, name: str, height: int) -> pl.Series:
    """What was said of each of `height` claims, as a list; an empty one where nothing was."""
    nothing = pl.Series(name, [[]], dtype=schema.VERDICTS[name])
    if found.is_empty():
        return nothing.new_from_index(0, height)
    claim = found["claim"].to_numpy()
    if name == "notes" and len(np.unique(claim)) == len(claim):
        lists = found["note"].reshape((-1, 1)).cast(schema.VERDICTS["notes"])
    else:
        said = gather(found) if name == "issues" else found.group_by("claim", maintain_order=True).agg(notes="note")
        claim, lists = said["claim"].to_numpy(), said[name]
    at = np.full(height, len(claim))
    at[claim] = np.arange(len(claim))
    return lists.extend(nothing)[places(at)]
