"""The gate: validate, screen, attenuate, resolve, dedup, build, supersede; a verdict for every claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from malsim.memory import schema, screen
from malsim.memory.building import Built, build
from malsim.memory.claims import Claims, as_claims
from malsim.memory.corrections import first_stale, replacements
from malsim.memory.numbering import Batch, number
from malsim.memory.relations import REFUSALS, Outcome, resolve
from malsim.memory.rules import Rules
from malsim.memory.sequential import moved
from malsim.memory.validation import Validated, gather, validate
from malsim.memory.wording import worded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from malsim.memory.cells import Memory

__all__ = ["Admission", "admit"]


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
    frame = as_claims(claims)
    parts: list[pl.DataFrame] = []
    while True:
        memory, verdicts, cut = _admit(memory, frame, rules, factors or {})
        parts.append(verdicts)
        if cut is None:
            return Admission(memory, pl.concat(parts) if len(parts) > 1 else verdicts)
        frame = frame.slice(cut)


def _admit(
    memory: Memory, frame: pl.DataFrame, rules: Rules, factors: Mapping[str, float]
) -> tuple[Memory, pl.DataFrame, int | None]:
    """Admit a batch up to the first claim that restates a cell which the batch itself replaced before it."""
    if frame.is_empty():
        return memory, pl.DataFrame(schema=schema.VERDICTS), None
    checked = _capped(screened(validate(frame, rules), rules), rules)
    factor, bad_factor = _factor(memory, checked.claims, factors)
    issues = pl.concat([checked.issues, bad_factor])
    sound = np.ones(frame.height, dtype=bool)
    sound[issues["claim"].to_numpy()] = False
    batch = number(memory, checked, sound, factor, rules)
    outcome = resolve(batch)
    replaced = replacements(memory, checked, batch, outcome, rules)
    cut = first_stale(batch, outcome, replaced)
    if cut is not None:
        return *_admit(memory, frame.head(cut), rules, factors)[:2], cut
    built = build(memory, checked, batch, outcome, replaced, factor, rules)
    if rules.recompute == "admit":
        built = moved(built, outcome, factors, rules)
    return built.memory, _verdicts(checked, outcome, built, _refused(outcome, checked, batch, issues)), None


def screened(checked: Validated, rules: Rules) -> Validated:
    """Refuse claims that hold a credential, or personal data in a public write; or, under `flag`, mark them."""
    secrets = screen.secrets(checked.claims, checked.edges, rules)
    personal = screen.personal(checked.claims, rules)
    if secrets.is_empty() and personal.is_empty():
        return Validated(checked.claims.with_columns(_no_notes()), checked.edges, checked.issues)
    if rules.screen == "flag":
        return _flagged(checked, secrets, personal)
    said = [
        found.select("claim", "path", worded(text, "finding").alias("message"))
        for found, text in ((secrets, "screen: possible {}"), (personal, "screen: public write may expose {}"))
    ]
    withheld = pl.col("claim").is_in(pl.concat(said)["claim"].unique().implode())
    blank = [pl.when(~withheld).then(pl.col(name)).alias(name) for name in ("handle", "key", "object", "title", "body")]
    in_writer = pl.concat(said).filter(pl.col("path") == "writer")["claim"].implode()
    writer = pl.when(~pl.col("claim").is_in(in_writer)).then(pl.col("writer")).alias("writer")
    claims = checked.claims.with_columns(*blank, writer, _no_notes())
    issues = pl.concat([checked.issues, *said]).unique(["claim", "path"], keep="last", maintain_order=True)
    return Validated(claims, checked.edges, issues)


def _no_notes() -> pl.Expr:
    return pl.lit([], dtype=pl.List(pl.String)).alias("notes")


def _flagged(checked: Validated, secrets: pl.DataFrame, personal: pl.DataFrame) -> Validated:
    """The reference's newest gate: a finding lowers the sensitivity instead of refusing."""
    secret = pl.col("claim").is_in(secrets["claim"].unique().implode())
    exposed = pl.col("claim").is_in(personal["claim"].unique().implode()) & ~secret
    said = [
        found.select("claim", worded("screen: possible {} in {}", "finding", "path").alias("notes"))
        for found in (secrets, personal)
    ]
    notes = pl.concat(said).group_by("claim", maintain_order=True).agg("notes")
    sensitivity = pl.when(secret).then(pl.lit("secret")).when(exposed).then(pl.lit("private")).otherwise("sensitivity")
    claims = checked.claims.join(notes, on="claim", how="left", maintain_order="left")
    return Validated(
        claims.with_columns(sensitivity.alias("sensitivity"), pl.col("notes").fill_null([])),
        checked.edges,
        checked.issues,
    )


def _capped(checked: Validated, rules: Rules) -> Validated:
    """Cap high confidence that nothing supports; the writer's number stays as `claimed`."""
    evidence = (pl.col("relation") == "derived_from") | ((pl.col("relation") == "supports") & (pl.col("weight") > 0))
    backed = checked.edges.filter(evidence)["claim"].unique().implode()
    supported = (
        (pl.col("source_refs").list.len().fill_null(0) > 0)
        | pl.col("verification").is_in(["checked", "tested", "external"])
        | pl.col("claim").is_in(backed)
    )
    capped = pl.when(supported).then("confidence").otherwise(pl.min_horizontal("confidence", pl.lit(rules.confidence_cap)))
    claims = checked.claims.with_columns(claimed=pl.col("confidence"), stated=capped)
    said = pl.when(pl.col("stated") < pl.col("claimed")).then(
        pl.concat_list("notes", worded("confidence capped from {} to {}: nothing supports it", "claimed", "stated"))
    )
    if (claims["stated"] < claims["claimed"]).any():
        claims = claims.with_columns(said.otherwise("notes").alias("notes"))
    return Validated(claims, checked.edges, checked.issues)


def _factor(memory: Memory, claims: pl.DataFrame, factors: Mapping[str, float]) -> tuple[NDArray[np.float64], pl.DataFrame]:
    """Each claim's calibration factor: given, or its writer's at the last tick, or 1; and issues for impossible ones."""
    held = memory.writers.select("rep", "writer", "calibration")
    found = claims.select("rep", "writer").join(held, on=["rep", "writer"], how="left", maintain_order="left")
    column = found["calibration"].fill_null(1.0)
    if factors:
        column = found["writer"].replace_strict(factors, default=column, return_dtype=pl.Float64)
    good = column.is_between(0.5, 1.0) | ~column.is_in(list(factors.values()))
    bad = claims.filter(~good.fill_null(value=False)).select(
        "claim", pl.lit("calibration").alias("path"), pl.lit("must be a finite number from 0.5 to 1").alias("message")
    )
    return column.fill_nan(1.0).to_numpy(), bad


def _refused(outcome: Outcome, checked: Validated, batch: Batch, issues: pl.DataFrame) -> pl.DataFrame:
    """All issues of all refused claims, those of their relations included."""
    found = [issues]
    path = worded("edges[{}].target", "place").alias("path")
    for kind, message in zip(outcome.refused, REFUSALS, strict=True):
        if kind.any():
            found.append(checked.edges.filter(pl.Series(kind)).select("claim", path, pl.lit(message).alias("message")))
    taken = outcome.name_taken & batch.sound
    if taken.any():
        claims = checked.claims.filter(pl.Series(taken))
        by_key = pl.col("key").is_not_null() & pl.col("handle").is_null()
        path = pl.when(by_key).then(pl.lit("key")).otherwise(pl.lit("handle"))
        found.append(claims.select("claim", path.alias("path"), pl.lit("is taken by another cell").alias("message")))
    first = pl.concat(found).unique(["claim", "path"], keep="first", maintain_order=True)
    return first.sort("claim", maintain_order=True)


def _verdicts(checked: Validated, outcome: Outcome, built: Built, issues: pl.DataFrame) -> pl.DataFrame:
    claims, cells = checked.claims, built.memory.cells
    verdict = np.where(outcome.created, "admitted", np.where(outcome.accepted, "deduplicated", "refused"))
    cell = pl.Series("cell", np.where(outcome.accepted, built.row, 0)).set(pl.Series(~outcome.accepted), None)
    frame = claims.select("claim", "rep", "t", "writer", "sequence", "claimed", "notes").with_columns(
        pl.Series("verdict", verdict),
        cell,
        *(cells[name].gather(cell).alias(name) for name in ("stated", "calibration", "effective")),
        cells["handle"].gather(cell).fill_null(claims["handle"]),
    )
    if issues.height:
        frame = frame.join(gather(issues), on="claim", how="left", maintain_order="left")
    else:
        frame = frame.with_columns(pl.lit(None, dtype=schema.ISSUES).alias("issues"))
    frame = frame.with_columns(pl.col("issues").fill_null([]))
    return frame.select([pl.col(name).cast(kind) for name, kind in schema.VERDICTS.items()])
