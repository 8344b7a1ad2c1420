"""Verdicts of the gate as codes; their words and events are made on demand."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory import schema
from malsim.memory.gate.resolve import REFUSALS
from malsim.memory.graph.frames import format_expr, frame_of, to_series
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from malsim.memory.gate.append import BatchResult
    from malsim.memory.gate.claims import Issue, Validated
    from malsim.memory.gate.numbering import Batch
    from malsim.memory.gate.resolve import Resolution
    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.memory.graph.claim_graph import Memory


@dataclass(frozen=True)
class GateResult:
    """Verdicts on a batch in the order of the gate, and the memory after it.

    Of each claim: `rep`, `verdict` (index in `schema.VERDICT`), `row` (the cell it became or restated, NONE for none),
    `attenuated` (whether its confidence was capped, or its writer's factor is below 1). `superseded` are the rows of the
    cells that gave way. `speak` makes the words of the verdicts, part by part.
    """

    memory: Memory
    rep: Ints
    verdict: Ints
    row: Ints
    attenuated: Bools
    superseded: Ints
    speak: Callable[[], Sequence[VerdictWords]]

    @cached_property
    def verdicts(self) -> pl.DataFrame:
        return pl.concat([pl.DataFrame(schema=schema.VERDICTS), *(words.frame for words in self.speak())])

    @classmethod
    def of(cls, checked: Validated, batch: Batch, outcome: Resolution, result: BatchResult) -> GateResult:
        stands = result.row != NONE
        capped = checked.claims.column("stated") < checked.claims.column("confidence")
        attenuated = capped.copy()
        attenuated[[claim for claim, _ in checked.notes]] = True
        attenuated[batch.claim[outcome.dropped]] = True
        attenuated[stands] |= result.memory.column("calibration")[result.row[stands]] < 1.0
        verdict = np.where(outcome.created, 0, np.where(outcome.accepted, 1, 2))

        def speak() -> list[VerdictWords]:
            return [VerdictWords.of(checked, batch, outcome, result, verdict, np.flatnonzero(capped))]

        rep = checked.claims.column("rep")
        return cls(result.memory, rep, verdict, result.row, attenuated, result.demotions[0], speak)

    @classmethod
    def concat(cls, parts: Sequence[GateResult]) -> GateResult:
        names = ("rep", "verdict", "row", "attenuated", "superseded")
        columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        return cls(parts[-1].memory, **columns, speak=lambda: [words for part in parts for words in part.speak()])

    @classmethod
    def between(cls, before: Memory, after: Memory, verdicts: pl.DataFrame) -> GateResult:
        """Read the judgement off a frame of verdicts and the memories before and after them."""
        superseded = after.column("successor") != NONE
        superseded[: before.height] &= before.column("successor") == NONE
        words = VerdictWords.read(verdicts)
        attenuated = words.calibration < 1.0
        attenuated[list(words.notes)] = True
        row = verdicts["cell"].fill_null(NONE).to_numpy()
        return cls(after, words.rep, words.verdict, row, attenuated, np.flatnonzero(superseded), lambda: [words])


EVENT = ("t", "rep", "kind", "subject", "detail", "cause")
KINDS = dict(zip(schema.VERDICT, ("admitted", "deduplicated", "rejected"), strict=True))
_KINDS = tuple(KINDS.values())
_NAMED = ("t", "rep", "handle", "writer", "sequence")


@dataclass(frozen=True)
class VerdictWords:
    """Columns of verdicts, one value a claim; by claim its issues (path, message) and notes; `make` makes the frame."""

    t: Array
    rep: Ints
    verdict: Ints
    handle: NDArray[Any]
    writer: NDArray[Any]
    sequence: Ints
    calibration: Array
    issues: Mapping[int, Sequence[tuple[str, str]]]
    notes: Mapping[int, Sequence[str]]
    make: Callable[[VerdictWords], pl.DataFrame]

    @classmethod
    def of(
        cls, checked: Validated, batch: Batch, outcome: Resolution, result: BatchResult, verdict: Ints, capped: Ints
    ) -> VerdictWords:
        claims, memory, stands = checked.claims, result.memory, result.row != NONE
        handle, calibration = np.full(claims.height, None, dtype=object), np.full(claims.height, np.nan)
        handle[stands] = memory.values("handle", result.row[stands])
        calibration[stands] = memory.values("calibration", result.row[stands])
        if not stands.all() and claims.tells("handle"):
            handle[~stands] = claims.column("handle")[~stands]
        notes = [*checked.notes, *_dropped(checked, outcome), *_caps(checked, capped)]

        def make(words: VerdictWords) -> pl.DataFrame:
            return _frame(words, checked, result)

        columns = (claims.column("t"), claims.column("rep"), verdict, handle, claims.column("writer"))
        issues = [(claim, (path, message)) for claim, path, message in _refusals(outcome, checked, batch)]
        return cls(*columns, claims.column("sequence"), calibration, _by_claim(issues), _by_claim(notes), make)

    @classmethod
    def read(cls, verdicts: pl.DataFrame) -> VerdictWords:
        t, rep, handle, writer, sequence = (verdicts[name].to_numpy() for name in _NAMED)
        calibration = verdicts["calibration"].fill_null(np.nan).to_numpy()
        issues = {
            claim: [(issue["path"], issue["message"]) for issue in issues]
            for claim, issues in enumerate(verdicts["issues"].to_list())
            if issues
        }
        notes = {claim: notes for claim, notes in enumerate(verdicts["notes"].to_list()) if notes}
        codes = verdicts["verdict"].to_physical().to_numpy()
        return cls(t, rep, codes, handle, writer, sequence, calibration, issues, notes, lambda _: verdicts)

    @property
    def frame(self) -> pl.DataFrame:
        return self.make(self)

    def events(self) -> list[dict[str, Any]]:
        """Return one event a claim: admitted, deduplicated or rejected; and one more for each that was attenuated."""
        writers = ["?" if writer is None else writer for writer in self.writer.tolist()]
        cause = [f"claim {number} of {writer}" for number, writer in zip(self.sequence.tolist(), writers, strict=True)]
        detail = [self._reason(claim) or f"by {writer}" for claim, writer in enumerate(writers)]
        kind = [_KINDS[verdict] for verdict in self.verdict.tolist()]
        events = [self.t, self.rep, kind, self.handle, detail, cause]
        lowered = self.calibration < 1.0
        lowered[list(self.notes)] = True
        rows = np.flatnonzero(lowered)
        if not rows.size:
            return [dict(zip(EVENT, events, strict=True))]
        factors = zip(rows.tolist(), np.round(self.calibration[rows], 3).tolist(), strict=True)
        details = [self._lowering(row, factor) for row, factor in factors]
        causes = [cause[row] for row in rows.tolist()]
        attenuated = [self.t[rows], self.rep[rows], "attenuated", self.handle[rows], details, causes]
        return [dict(zip(EVENT, columns, strict=True)) for columns in (events, attenuated)]

    def _reason(self, claim: int) -> str:
        return "; ".join(f"{path}: {message}" for path, message in self.issues.get(claim, ()))

    def _lowering(self, row: int, factor: float) -> str:
        below = [f"calibration × {factor}"] if self.calibration[row] < 1.0 else []
        return "; ".join([*self.notes.get(row, ()), *below])


def _by_claim(rows: Iterable[tuple[int, Any]]) -> dict[int, list[Any]]:
    lists: defaultdict[int, list[Any]] = defaultdict(list)
    for claim, value in rows:
        lists[claim].append(value)
    return lists


def _frame(words: VerdictWords, checked: Validated, result: BatchResult) -> pl.DataFrame:
    """Make the verdicts of a batch a frame; of a claim that became no cell the scores are null."""
    claims, stands = checked.claims, result.row != NONE
    scores = {name: np.full(len(stands), np.nan) for name in ("stated", "calibration", "effective")}
    for name, values in scores.items():
        values[stands] = result.memory.values(name, result.row[stands])
    structs = {claim: [{"path": path, "message": text} for path, text in rows] for claim, rows in words.issues.items()}
    lists = {"issues": structs, "notes": words.notes}
    columns = {
        **{name: claims.as_series(name) for name in ("rep", "t", "writer", "sequence")},
        "verdict": _VERDICTS[pl.Series(words.verdict.astype(np.uint32))],
        "handle": to_series("handle", words.handle),
        "cell": to_series("successor", result.row),
        "claimed": claims.as_series("confidence"),
        **{name: to_series(name, values) for name, values in scores.items()},
        **{name: _lists(name, values, len(stands)) for name, values in lists.items()},
    }
    return frame_of(columns)


_VERDICTS = pl.Series(schema.VERDICT, dtype=schema.VERDICTS["verdict"])


def _lists(name: str, by_claim: Mapping[int, Sequence[Any]], height: int) -> pl.Series:
    """Return a column of lists, empty ones where a claim has no value."""
    at = np.full(height, len(by_claim), dtype=np.uint32)
    at[list(by_claim)] = np.arange(len(by_claim))
    return pl.Series(name, [*by_claim.values(), []], dtype=schema.VERDICTS[name])[pl.Series(at)]


def _dropped(checked: Validated, outcome: Resolution) -> list[tuple[int, str]]:
    rows = np.flatnonzero(outcome.dropped)
    indices = zip(*(checked.edges.column(name)[rows].tolist() for name in ("claim", "place")), strict=True)
    return [(claim, f"edges[{index}] dropped: {REFUSALS[-1]}") for claim, index in indices]


def _caps(checked: Validated, capped: Ints) -> list[tuple[int, str]]:
    was, now = (checked.claims.column(name)[capped].tolist() for name in ("confidence", "stated"))
    rows = zip(capped.tolist(), was, now, strict=True)
    return [
        (claim, f"confidence capped from {_text(high)} to {_text(cap)}: nothing supports it") for claim, high, cap in rows
    ]


def _text(number: float) -> str:
    return repr(number).replace("e-0", "e-")


def _refusals(outcome: Resolution, checked: Validated, batch: Batch) -> list[Issue]:
    """Return all issues of all refused claims, including those of their relations: the first of each field."""
    issues = list(checked.issues)
    if outcome.accepted.all():
        return issues
    for kind, message in zip(outcome.refused, REFUSALS, strict=True):
        rows = np.flatnonzero(kind)
        indices = zip(*(checked.edges.column(name)[rows].tolist() for name in ("claim", "place")), strict=True)
        issues += [(claim, f"edges[{index}].target", message) for claim, index in indices]
    conflict = np.flatnonzero(outcome.name_taken & batch.sound)
    names = (checked.claims.column(name)[conflict].tolist() for name in ("key", "handle"))
    for claim, key, handle in zip(conflict.tolist(), *names, strict=True):
        path = "key" if key is not None and handle is None else "handle"
        issues.append((claim, path, "is taken by another cell"))
    first = {(claim, path): message for claim, path, message in reversed(issues)}
    fields = dict.fromkeys((claim, path) for claim, path, _ in issues)
    return [(claim, path, first[claim, path]) for claim, path in sorted(fields, key=itemgetter(0))]


def account(result: GateResult) -> list[dict[str, Any]]:
    """Return columns of events: one event a claim, then one each that was attenuated, then one a superseded cell."""
    parts = [words.events() for words in result.speak()]
    claims, lowered = [events[0] for events in parts], [events[1] for events in parts if len(events) > 1]
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
