"""What the gate says of a batch: what became of each claim, as numbers, and when somebody asks as words and as events."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory import schema
from malsim.memory.gate.checks import gather
from malsim.memory.gate.resolve import REFUSALS
from malsim.memory.graph.frames import format_expr, frame_of, places
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from malsim.memory.gate.append import BatchResult
    from malsim.memory.gate.claims import Validated
    from malsim.memory.gate.numbering import Batch
    from malsim.memory.gate.resolve import Resolution
    from malsim.memory.graph.arrays import Bools, Ints
    from malsim.memory.graph.claim_graph import Memory


@dataclass(frozen=True)
class GateResult:
    """A batch as the gate judged it, in its order, and the memory after it.

    Of each claim: `rep`, `verdict` (place among `schema.VERDICT`), `row` (the cell it became or restated, NONE for none),
    `attenuated` (whether its confidence was capped, or its writer's factor is below 1). `superseded` are the rows of the
    cells that gave way. `make` makes the verdicts as a frame.
    """

    memory: Memory
    rep: Ints
    verdict: Ints
    row: Ints
    attenuated: Bools
    superseded: Ints
    make: Callable[[], pl.DataFrame]

    @cached_property
    def verdicts(self) -> pl.DataFrame:
        """One row a claim (columns of `schema.VERDICTS`)."""
        return self.make()

    @classmethod
    def of(cls, checked: Validated, batch: Batch, outcome: Resolution, result: BatchResult) -> GateResult:
        """The judgement that an outcome and what was built of it come to."""
        stands = result.row != NONE
        capped = checked.claims.column("stated") < checked.claims.column("confidence")
        attenuated = capped.copy()
        if checked.notes.height:
            attenuated[checked.notes["claim"].to_numpy()] = True
        attenuated[batch.claim[outcome.dropped]] = True
        attenuated[stands] |= result.memory.column("calibration")[result.row[stands]] < 1.0
        verdict = np.where(outcome.created, 0, np.where(outcome.accepted, 1, 2))
        make = partial(_verdicts, checked, batch, outcome, result, verdict, capped)
        rep = checked.claims.column("rep")
        return cls(result.memory, rep, verdict, result.row, attenuated, result.demotions[0], make)

    @classmethod
    def concat(cls, parts: Sequence[GateResult]) -> GateResult:
        """The judgement of a batch that was judged in parts."""
        names = ("rep", "verdict", "row", "attenuated", "superseded")
        columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        return cls(parts[-1].memory, **columns, make=lambda: pl.concat([part.verdicts for part in parts]))

    @classmethod
    def between(cls, before: Memory, after: Memory, verdicts: pl.DataFrame) -> GateResult:
        """What the verdicts and the memories before and after them tell."""
        superseded = after.column("successor") != NONE
        superseded[: before.height] &= before.column("successor") == NONE
        attenuated = verdicts.select((pl.col("notes").list.len() > 0) | (pl.col("calibration") < 1.0)).to_series()
        return cls(
            after,
            verdicts["rep"].to_numpy(),
            verdicts["verdict"].to_physical().to_numpy(),
            verdicts["cell"].fill_null(NONE).to_numpy(),
            attenuated.fill_null(value=False).to_numpy(),
            np.flatnonzero(superseded),
            lambda: verdicts,
        )


def _verdicts(
    checked: Validated, batch: Batch, outcome: Resolution, result: BatchResult, verdict: Ints, capped: Bools
) -> pl.DataFrame:
    """One row a claim (columns of `schema.VERDICTS`)."""
    claims, cells = checked.claims.frame(), result.memory.cells
    notes = _notes(checked, outcome, capped) if capped.any() or outcome.dropped.any() else checked.notes
    refused = pl.Series(result.row == NONE)
    row = places(np.maximum(result.row, 0))
    handle, cell, issues = claims["handle"], pl.Series(result.row), checked.issues
    if outcome.accepted.all():
        handle = cells["handle"][row]
    else:
        row, cell = row.set(refused, None), cell.set(refused, None)
        handle = handle.zip_with(refused, cells["handle"][row])
        issues = _refusal_issues(outcome, checked, batch)
    columns = {
        **{name: claims[name] for name in ("rep", "t", "writer", "sequence")},
        "verdict": _VERDICTS[places(verdict)],
        "handle": handle,
        "cell": cell,
        "claimed": claims["confidence"],
        **{name: cells[name][row] for name in ("stated", "calibration", "effective")},
        "issues": _lists(issues, "issues", checked.claims.height),
        "notes": _lists(notes, "notes", checked.claims.height),
    }
    return frame_of(columns)


def _notes(checked: Validated, outcome: Resolution, capped: Bools) -> pl.DataFrame:
    """What is noted of each claim: what the screen found, edges that were dropped, and whether its confidence was capped."""
    parts = [checked.notes]
    if outcome.dropped.any():
        edges = checked.edges.frame().filter(pl.Series(outcome.dropped))
        parts.append(edges.select("claim", note=format_expr(f"edges[{{}}] dropped: {REFUSALS[-1]}", "place")))
    if capped.any():
        parts.append(_caps(checked, capped))
    return pl.concat(parts)


def _caps(checked: Validated, capped: Bools) -> pl.DataFrame:
    rows = np.flatnonzero(capped)
    was, now = (pl.Series(checked.claims.column(name)[rows]).cast(pl.String) for name in ("confidence", "stated"))
    texts = [f"confidence capped from {high} to {cap}: nothing supports it" for high, cap in zip(was, now, strict=True)]
    return frame_of({"claim": rows.astype(np.uint32), "note": pl.Series(texts, dtype=pl.String)})


_VERDICTS = pl.Series(schema.VERDICT, dtype=schema.VERDICTS["verdict"])


def _lists(rows: pl.DataFrame, name: str, height: int) -> pl.Series:
    """What was said of each of `height` claims, as a list; an empty one where nothing was."""
    nothing = pl.Series(name, [[]], dtype=schema.VERDICTS[name])
    if rows.is_empty():
        return nothing.new_from_index(0, height)
    claim = rows["claim"].to_numpy()
    if name == "notes" and len(np.unique(claim)) == len(claim):
        lists = rows["note"].reshape((-1, 1)).cast(schema.VERDICTS["notes"])
    else:
        by_claim = gather(rows) if name == "issues" else rows.group_by("claim", maintain_order=True).agg(notes="note")
        claim, lists = by_claim["claim"].to_numpy(), by_claim[name]
    at = np.full(height, len(claim))
    at[claim] = np.arange(len(claim))
    return lists.extend(nothing)[places(at)]


def _refusal_issues(outcome: Resolution, checked: Validated, batch: Batch) -> pl.DataFrame:
    """All issues of all refused claims, those of their relations included."""
    issues = [checked.issues]
    path = format_expr("edges[{}].target", "place").alias("path")
    for kind, message in zip(outcome.refused, REFUSALS, strict=True):
        if kind.any():
            edges = checked.edges.frame().filter(pl.Series(kind))
            issues.append(edges.select("claim", path, pl.lit(message).alias("message")))
    conflict = outcome.name_taken & batch.sound
    if conflict.any():
        claims = checked.claims.frame().filter(pl.Series(conflict))
        by_key = pl.col("key").is_not_null() & pl.col("handle").is_null()
        name = pl.when(by_key).then(pl.lit("key")).otherwise(pl.lit("handle")).alias("path")
        issues.append(claims.select("claim", name, pl.lit("is taken by another cell").alias("message")))
    if len(issues) == 1:
        return checked.issues
    first = pl.concat(issues).unique(["claim", "path"], keep="first", maintain_order=True)
    return first.sort("claim", maintain_order=True)


EVENT = ("t", "rep", "kind", "subject", "detail", "cause")
KINDS = dict(zip(schema.VERDICT, ("admitted", "deduplicated", "rejected"), strict=True))


def account(result: GateResult) -> pl.DataFrame:
    """One event a claim, then one each that was attenuated, then one a cell that was superseded."""
    parts = [*verdict_events(result.verdicts), *_replacements(np.sort(result.superseded), result.memory)]
    return pl.concat([part.select(EVENT) for part in parts])


def issues_as_text() -> pl.Expr:
    """The `issues` of verdicts as text, each with the path of the field it is about."""
    one = format_expr("{}: {}", pl.element().struct["path"], pl.element().struct["message"])
    return pl.col("issues").list.eval(one).list.join("; ")


def verdict_events(verdicts: pl.DataFrame) -> list[pl.DataFrame]:
    """One event a claim: admitted, deduplicated or rejected; and one more for each that was attenuated."""
    by = format_expr("by {}", pl.col("writer").fill_null("?"))
    claim = format_expr("claim {} of {}", "sequence", pl.col("writer").fill_null("?"))
    events = verdicts.select(
        "t",
        "rep",
        pl.col("verdict").cast(pl.String).replace_strict(KINDS, return_dtype=pl.String).alias("kind"),
        pl.col("handle").alias("subject"),
        pl.when(pl.col("issues").list.len() > 0).then(issues_as_text()).otherwise(by).alias("detail"),
        claim.alias("cause"),
    )
    attenuated = verdicts.filter((pl.col("notes").list.len() > 0) | (pl.col("calibration") < 1.0)).select(
        "t",
        "rep",
        pl.lit("attenuated").alias("kind"),
        pl.col("handle").alias("subject"),
        pl.concat_list(
            "notes",
            pl.when(pl.col("calibration") < 1.0).then(format_expr("calibration × {}", pl.col("calibration").round(3))),
        ).list.drop_nulls().list.join("; ").alias("detail"),
        claim.alias("cause"),
    )  # fmt: skip
    return [events, attenuated] if attenuated.height else [events]


def _replacements(rows: Ints, after: Memory) -> list[pl.DataFrame]:
    """One event a cell that a batch superseded."""
    if not rows.size:
        return []
    cells = after.cells
    superseded = cells.select("rep", pl.col("handle").alias("subject"), "successor")[rows]
    heir = cells.select(
        pl.col("created").alias("t"),
        format_expr("by {} of {}", "handle", "writer").alias("detail"),
        pl.col("handle").alias("cause"),
    )[superseded["successor"]]
    return [pl.concat([superseded, heir], how="horizontal").with_columns(kind=pl.lit("superseded"))]
