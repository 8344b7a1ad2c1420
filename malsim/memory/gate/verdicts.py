"""Verdicts of the gate, stored as codes. Their texts and events are built on demand."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property, partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory import schema
from malsim.memory.gate.resolution import REFUSALS
from malsim.memory.graph.frames import format_expr, frame_of, to_series
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from malsim.memory.gate.append import BatchResult
    from malsim.memory.gate.batch import Batch
    from malsim.memory.gate.claims import Issue, Validated
    from malsim.memory.gate.resolution import Resolution
    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.memory.graph.claim_graph import Memory


@dataclass(frozen=True)
class GateResult:
    """Verdicts on a batch in gate order, and the memory after the batch.

    For each claim: `rep`, `verdict` (index in `schema.VERDICT`), `row` (the cell that it became or restated, NONE if there
    is none), and `attenuated` (it was capped, has a note, lost an edge, or has a calibration factor below 1). `superseded`
    holds the rows of the superseded cells. `texts` builds the complete verdicts in parts.
    """

    memory: Memory
    rep: Ints
    verdict: Ints
    row: Ints
    attenuated: Bools
    superseded: Ints
    texts: Callable[[], Sequence[FullVerdicts]]

    @cached_property
    def verdicts(self) -> pl.DataFrame:
        return pl.concat([pl.DataFrame(schema=schema.VERDICTS), *(part.make(part) for part in self.texts())])

    @classmethod
    def of(cls, checked: Validated, batch: Batch, outcome: Resolution, result: BatchResult) -> GateResult:
        has_cell = result.row != NONE
        capped = checked.claims.column("stated") < checked.claims.column("confidence")
        attenuated = capped.copy()
        attenuated[[claim for claim, _ in checked.notes]] = True
        attenuated[batch.claim[outcome.dropped]] = True
        attenuated[has_cell] |= result.memory.column("calibration")[result.row[has_cell]] < 1.0
        verdict = np.where(outcome.created, 0, np.where(outcome.accepted, 1, 2))

        def texts() -> list[FullVerdicts]:
            return [FullVerdicts.of(checked, batch, outcome, result, verdict, np.flatnonzero(capped))]

        rep = checked.claims.column("rep")
        return cls(result.memory, rep, verdict, result.row, attenuated, result.demotions[0], texts)

    @classmethod
    def concat(cls, parts: Sequence[GateResult]) -> GateResult:
        names = ("rep", "verdict", "row", "attenuated", "superseded")
        columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        return cls(parts[-1].memory, **columns, texts=lambda: [text for part in parts for text in part.texts()])

    @classmethod
    def between(cls, before: Memory, after: Memory, verdicts: pl.DataFrame) -> GateResult:
        """Build a result from a frame of verdicts and the memory before and after the batch."""
        superseded = after.column("successor") != NONE
        superseded[: before.height] &= before.column("successor") == NONE
        full = FullVerdicts.read(verdicts)
        row = verdicts["cell"].fill_null(NONE).to_numpy()
        return cls(after, full.rep, full.verdict, row, full.attenuated, np.flatnonzero(superseded), lambda: [full])


EVENT = ("t", "rep", "kind", "subject", "detail", "cause")
KINDS = dict(zip(schema.VERDICT, ("admitted", "deduplicated", "rejected"), strict=True))
_KINDS = tuple(KINDS.values())


@dataclass(frozen=True)
class FullVerdicts:
    """Verdicts with one value per claim in each column, and each claim's issues (path, message) and notes.

    `make` builds the frame.
    """

    t: Array
    rep: Ints
    verdict: Ints
    handle: NDArray[Any]
    writer: NDArray[Any]
    sequence: Ints
    calibration: Array
    issues: Mapping[int, Sequence[tuple[str, str]]]
    notes: Mapping[int, Sequence[str]]
    make: Callable[[FullVerdicts], pl.DataFrame]

    @classmethod
    def of(
        cls, checked: Validated, batch: Batch, outcome: Resolution, result: BatchResult, verdict: Ints, capped: Ints
    ) -> FullVerdicts:
        claims, memory, has_cell = checked.claims, result.memory, result.row != NONE
        handle, calibration = np.full(claims.height, None, dtype=object), np.full(claims.height, np.nan)
        handle[has_cell] = memory.values("handle", result.row[has_cell])
        calibration[has_cell] = memory.values("calibration", result.row[has_cell])
        if not has_cell.all() and claims.has_values("handle"):
            handle[~has_cell] = claims.column("handle")[~has_cell]
        dropped = _edge_issues(checked, outcome.dropped, f"dropped: {REFUSALS[-1]}")
        notes = [*checked.notes, *((claim, f"{path} {text}") for claim, path, text in dropped), *_caps(checked, capped)]
        columns = {name: claims.column(name) for name in ("t", "rep", "writer", "sequence")}
        issues = [(claim, (path, message)) for claim, path, message in _refusals(outcome, checked, batch)]
        return cls(
            **columns, verdict=verdict, handle=handle, calibration=calibration, issues=_by_claim(issues),
            notes=_by_claim(notes), make=partial(_frame, checked, result),
        )  # fmt: skip

    @classmethod
    def read(cls, verdicts: pl.DataFrame) -> FullVerdicts:
        columns = {name: verdicts[name].to_numpy() for name in ("t", "rep", "handle", "writer", "sequence")}
        calibration = verdicts["calibration"].fill_null(np.nan).to_numpy()
        issues = {
            claim: [(issue["path"], issue["message"]) for issue in issues]
            for claim, issues in enumerate(verdicts["issues"].to_list())
            if issues
        }
        notes = {claim: notes for claim, notes in enumerate(verdicts["notes"].to_list()) if notes}
        codes = verdicts["verdict"].to_physical().to_numpy()
        return cls(**columns, verdict=codes, calibration=calibration, issues=issues, notes=notes, make=lambda _: verdicts)

    @property
    def attenuated(self) -> Bools:
        mask: Bools = self.calibration < 1.0
        mask[list(self.notes)] = True
        return mask

    def events(self) -> list[dict[str, Any]]:
        """Return the events as columns, in two groups: the verdicts on all claims, and the attenuated claims."""
        writers = ["?" if writer is None else writer for writer in self.writer.tolist()]
        cause = [f"claim {number} of {writer}" for number, writer in zip(self.sequence.tolist(), writers, strict=True)]
        reasons = ("; ".join(f"{path}: {text}" for path, text in self.issues.get(claim, ())) for claim in range(len(cause)))
        detail = [reason or f"by {writer}" for reason, writer in zip(reasons, writers, strict=True)]
        kind = [_KINDS[verdict] for verdict in self.verdict.tolist()]
        events = [self.t, self.rep, kind, self.handle, detail, cause]
        rows = np.flatnonzero(self.attenuated)
        if not rows.size:
            return [dict(zip(EVENT, events, strict=True))]
        details = []
        for row, factor in zip(rows.tolist(), np.round(self.calibration[rows], 3).tolist(), strict=True):
            below = [f"calibration × {factor}"] if self.calibration[row] < 1.0 else []
            details.append("; ".join([*self.notes.get(row, ()), *below]))
        causes = [cause[row] for row in rows.tolist()]
        attenuated = [self.t[rows], self.rep[rows], "attenuated", self.handle[rows], details, causes]
        return [dict(zip(EVENT, columns, strict=True)) for columns in (events, attenuated)]


def _by_claim(rows: Iterable[tuple[int, Any]]) -> dict[int, list[Any]]:
    lists: defaultdict[int, list[Any]] = defaultdict(list)
    for claim, value in rows:
        lists[claim].append(value)
    return lists


def _frame(checked: Validated, result: BatchResult, full: FullVerdicts) -> pl.DataFrame:
    """Return the verdicts on a batch as a frame. The scores of a claim without a cell are null."""
    claims, has_cell = checked.claims, result.row != NONE
    scores = {name: np.full(len(has_cell), np.nan) for name in ("stated", "calibration", "effective")}
    for name, values in scores.items():
        values[has_cell] = result.memory.values(name, result.row[has_cell])
    structs = {claim: [{"path": path, "message": text} for path, text in rows] for claim, rows in full.issues.items()}
    columns = {
        **{name: claims.as_series(name) for name in ("rep", "t", "writer", "sequence")},
        "verdict": _VERDICTS[pl.Series(full.verdict.astype(np.uint32))],
        "handle": to_series("handle", full.handle),
        "cell": to_series("successor", result.row),
        "claimed": claims.as_series("confidence"),
        **{name: to_series(name, values) for name, values in scores.items()},
    }
    for name, by_claim in (("issues", structs), ("notes", full.notes)):
        # Claims without an entry get the empty list at the end.
        index = np.full(len(has_cell), len(by_claim), dtype=np.uint32)
        index[list(by_claim)] = np.arange(len(by_claim))
        columns[name] = pl.Series(name, [*by_claim.values(), []], dtype=schema.VERDICTS[name])[pl.Series(index)]
    return frame_of(columns)


_VERDICTS = pl.Series(schema.VERDICT, dtype=schema.VERDICTS["verdict"])


def _edge_issues(checked: Validated, edges: Bools, message: str, field: str = "") -> list[Issue]:
    rows = np.flatnonzero(edges)
    indices = zip(*(checked.edges.column(name)[rows].tolist() for name in ("claim", "place")), strict=True)
    return [(claim, f"edges[{index}]{field}", message) for claim, index in indices]


def _caps(checked: Validated, capped: Ints) -> list[tuple[int, str]]:
    columns = (checked.claims.column(name)[capped].tolist() for name in ("confidence", "stated"))
    texts = ([repr(number).replace("e-0", "e-") for number in column] for column in columns)
    rows = zip(capped.tolist(), *texts, strict=True)
    return [(claim, f"confidence capped from {high} to {cap}: nothing supports it") for claim, high, cap in rows]


def _refusals(outcome: Resolution, checked: Validated, batch: Batch) -> list[Issue]:
    """Return the first issue of each field, for refused claims and their edges."""
    issues = list(checked.issues)
    if outcome.accepted.all():
        return issues
    for edges, message in zip(outcome.refused, REFUSALS, strict=True):
        issues += _edge_issues(checked, edges, message, ".target")
    conflict = np.flatnonzero(outcome.name_taken & batch.sound)
    names = (checked.claims.column(name)[conflict].tolist() for name in ("key", "handle"))
    for claim, key, handle in zip(conflict.tolist(), *names, strict=True):
        path = "key" if key is not None and handle is None else "handle"
        issues.append((claim, path, "is taken by another cell"))
    first = {(claim, path): message for claim, path, message in reversed(issues)}
    fields = dict.fromkeys((claim, path) for claim, path, _ in issues)
    return [(claim, path, first[claim, path]) for claim, path in sorted(fields, key=itemgetter(0))]


def account(result: GateResult) -> list[dict[str, Any]]:
    """Return a batch's events as columns, in three groups: verdicts on all claims, attenuated claims, superseded cells."""
    parts = [texts.events() for texts in result.texts()]
    claims, attenuated = [events[0] for events in parts], [events[1] for events in parts if len(events) > 1]
    rows, memory = np.sort(result.superseded), result.memory
    if not rows.size:
        return [*claims, *attenuated]
    successor = memory.column("successor")[rows]
    handles, by = memory.column("handle"), memory.column("handle")[successor]
    pairs = zip(by.tolist(), memory.column("writer")[successor].tolist(), strict=True)
    detail = [f"by {handle} of {writer}" for handle, writer in pairs]
    columns = (memory.column("created")[successor], memory.column("rep")[rows], "superseded", handles[rows], detail, by)
    return [*claims, *attenuated, dict(zip(EVENT, columns, strict=True))]


def issues_as_text() -> pl.Expr:
    """Return an expression that formats the `issues` of each verdict as text, each issue with the path of its field."""
    text = format_expr("{}: {}", pl.element().struct["path"], pl.element().struct["message"])
    return pl.col("issues").list.eval(text).list.join("; ")
