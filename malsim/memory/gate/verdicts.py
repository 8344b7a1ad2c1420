"""Verdicts of the gate on a batch: codes for every claim, and words and events when somebody asks for them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory import schema
from malsim.memory.gate.checks import gather
from malsim.memory.gate.resolve import REFUSALS
from malsim.memory.graph.frames import format_expr, frame_of, places
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from malsim.memory.gate.append import BatchResult
    from malsim.memory.gate.claims import Validated
    from malsim.memory.gate.numbering import Batch
    from malsim.memory.gate.resolve import Resolution
    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.memory.graph.claim_graph import Memory


@dataclass(frozen=True)
class GateResult:
    """A batch as the gate judged it, in its order, and the memory after it.

    Of each claim: `rep`, `verdict` (index in `schema.VERDICT`), `row` (the cell it became or restated, NONE for none),
    `attenuated` (whether its confidence was capped, or its writer's factor is below 1). `superseded` are the rows of the
    cells that gave way. `make` makes the verdicts as a frame, `speak` the words of the events, part by part.
    """

    memory: Memory
    rep: Ints
    verdict: Ints
    row: Ints
    attenuated: Bools
    superseded: Ints
    make: Callable[[], pl.DataFrame]
    speak: Callable[[], Sequence[VerdictWords]]

    @cached_property
    def verdicts(self) -> pl.DataFrame:
        """One row a claim (columns of `schema.VERDICTS`)."""
        return self.make()

    @classmethod
    def of(cls, checked: Validated, batch: Batch, outcome: Resolution, result: BatchResult) -> GateResult:
        """Return the judgement of a resolved and built batch."""
        stands = result.row != NONE
        capped = checked.claims.column("stated") < checked.claims.column("confidence")
        attenuated = capped.copy()
        if checked.notes.height:
            attenuated[checked.notes["claim"].to_numpy()] = True
        attenuated[batch.claim[outcome.dropped]] = True
        attenuated[stands] |= result.memory.column("calibration")[result.row[stands]] < 1.0
        verdict = np.where(outcome.created, 0, np.where(outcome.accepted, 1, 2))
        parts = checked, batch, outcome, result, verdict, capped
        rep = checked.claims.column("rep")
        make, speak = partial(_verdicts, *parts), lambda: [VerdictWords.of(*parts)]
        return cls(result.memory, rep, verdict, result.row, attenuated, result.demotions[0], make, speak)

    @classmethod
    def concat(cls, parts: Sequence[GateResult]) -> GateResult:
        """Join the judgements of a batch that was judged in parts."""
        names = ("rep", "verdict", "row", "attenuated", "superseded")
        columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        return cls(
            parts[-1].memory,
            **columns,
            make=lambda: pl.concat([part.verdicts for part in parts]),
            speak=lambda: [words for part in parts for words in part.speak()],
        )

    @classmethod
    def between(cls, before: Memory, after: Memory, verdicts: pl.DataFrame) -> GateResult:
        """Read the judgement off a frame of verdicts and the memories before and after them."""
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
            lambda: [VerdictWords.read(verdicts)],
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
    """Return the notes on claims: findings of the screen, dropped edges, and capped confidences."""
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
    """Return the issues or notes of each of `height` claims as a list, empty where there are none."""
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
    """Return all issues of all refused claims, including those of their relations."""
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
_KINDS = tuple(KINDS.values())


@dataclass(frozen=True)
class VerdictWords:
    """Columns of verdicts that events are told from: one value a claim, and by claim what there is to say of it."""

    t: Array
    rep: Ints
    verdict: Ints
    handle: NDArray[Any]
    writer: NDArray[Any]
    sequence: Ints
    calibration: Array
    issues: Mapping[int, str]
    notes: Mapping[int, Sequence[str]]

    @classmethod
    def of(
        cls, checked: Validated, batch: Batch, outcome: Resolution, result: BatchResult, verdict: Ints, capped: Bools
    ) -> VerdictWords:
        """Return the words of a batch; of a claim that became no cell the handle is its own."""
        claims, memory, stands = checked.claims, result.memory, result.row != NONE
        handle, calibration = np.full(claims.height, None, dtype=object), np.full(claims.height, np.nan)
        handle[stands] = memory.column("handle")[result.row[stands]]
        calibration[stands] = memory.column("calibration")[result.row[stands]]
        issues, notes = checked.issues, checked.notes
        if not stands.all():
            issues = _refusal_issues(outcome, checked, batch)
            if claims.tells("handle"):
                handle[~stands] = claims.column("handle")[~stands]
        if capped.any() or outcome.dropped.any():
            notes = _notes(checked, outcome, capped)
        writer, sequence = (claims.column(name) for name in ("writer", "sequence"))
        remarks = _by_claim(notes.rows()) if notes.height else {}
        texts = _texts(issues.rows()) if issues.height else {}
        return cls(
            claims.column("t"), claims.column("rep"), verdict, handle, writer, sequence, calibration, texts, remarks
        )  # fmt: skip

    @classmethod
    def read(cls, verdicts: pl.DataFrame) -> VerdictWords:
        """Read the words off a frame of verdicts."""
        t, rep, handle, writer, sequence = (verdicts[name].to_numpy() for name in _NAMED)
        calibration = verdicts["calibration"].fill_null(np.nan).to_numpy()
        issues = enumerate(verdicts["issues"].to_list())
        rows = [(claim, issue["path"], issue["message"]) for claim, of_claim in issues for issue in of_claim or ()]
        notes = {claim: texts for claim, texts in enumerate(verdicts["notes"].to_list()) if texts}
        verdict = verdicts["verdict"].to_physical().to_numpy()
        return cls(t, rep, verdict, handle, writer, sequence, calibration, _texts(rows), notes)

    def events(self) -> list[dict[str, Any]]:
        """Return one event a claim: admitted, deduplicated or rejected; and one more for each that was attenuated."""
        writers = ["?" if writer is None else writer for writer in self.writer.tolist()]
        cause = [f"claim {number} of {writer}" for number, writer in zip(self.sequence.tolist(), writers, strict=True)]
        detail = [self.issues.get(claim) or f"by {writer}" for claim, writer in enumerate(writers)]
        kind = [_KINDS[verdict] for verdict in self.verdict.tolist()]
        events = [self.t, self.rep, kind, self.handle, detail, cause]
        lowered = self.calibration < 1.0
        lowered[list(self.notes)] = True
        rows = np.flatnonzero(lowered)
        if not rows.size:
            return [dict(zip(EVENT, events, strict=True))]
        factors = np.round(self.calibration[rows], 3).tolist()
        reasons = [self._reasons(row, factor) for row, factor in zip(rows.tolist(), factors, strict=True)]
        causes = [cause[row] for row in rows.tolist()]
        attenuated = [self.t[rows], self.rep[rows], "attenuated", self.handle[rows], reasons, causes]
        return [dict(zip(EVENT, columns, strict=True)) for columns in (events, attenuated)]

    def _reasons(self, row: int, factor: float) -> str:
        below = [f"calibration × {factor}"] if self.calibration[row] < 1.0 else []
        return "; ".join([*self.notes.get(row, ()), *below])


_NAMED = ("t", "rep", "handle", "writer", "sequence")


def _by_claim(rows: Iterable[tuple[int, str]]) -> dict[int, list[str]]:
    lists: defaultdict[int, list[str]] = defaultdict(list)
    for claim, text in rows:
        lists[claim].append(text)
    return lists


def _texts(issues: Iterable[tuple[int, str, str]]) -> dict[int, str]:
    """Return the issues of each claim as one text, each with the path of its field."""
    lists = _by_claim((claim, f"{path}: {message}") for claim, path, message in issues)
    return {claim: "; ".join(texts) for claim, texts in lists.items()}


def account(result: GateResult) -> list[dict[str, Any]]:
    """Return columns of events: one event a claim, then one each that was attenuated, then one a superseded cell."""
    words = [words.events() for words in result.speak()]
    claims, lowered = [parts[0] for parts in words], [parts[1] for parts in words if len(parts) > 1]
    rows, memory = np.sort(result.superseded), result.memory
    if not rows.size:
        return [*claims, *lowered]
    heir = memory.column("successor")[rows]
    handles, heirs = memory.column("handle"), memory.column("handle")[heir]
    pairs = zip(heirs.tolist(), memory.column("writer")[heir].tolist(), strict=True)
    detail = [f"by {handle} of {writer}" for handle, writer in pairs]
    columns = (memory.column("created")[heir], memory.column("rep")[rows], "superseded", handles[rows], detail, heirs)
    return [*claims, *lowered, dict(zip(EVENT, columns, strict=True))]


def issues_as_text() -> pl.Expr:
    """Return the `issues` of verdicts as text, each with the path of the field it is about."""
    text = format_expr("{}: {}", pl.element().struct["path"], pl.element().struct["message"])
    return pl.col("issues").list.eval(text).list.join("; ")
